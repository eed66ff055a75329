-- The rows of newest_verdicts for who reads them all: most records have one verdict of each check, and only those that were checked
-- anew are sorted by age. Who asks about one record or one check asks newest_verdicts: there DuckDB looks at the verdicts of that record
-- or check only, while which records were checked anew is found here by counting all verdicts, whatever is asked.
create or replace view all_newest_verdicts as
with places as (
    select name, (row_number() over (order by position, name) % 63)::utinyint as place from stages
), checked_anew as (
    select v.subject from verdicts v left join places p on p.name = v.check_name
    group by v.subject having count(*) > bit_count(bit_or(1::ubigint << coalesce(p.place, 63)))
)
select v.* from verdicts v anti join checked_anew c on c.subject = v.subject
union all
select v.* from verdicts v semi join checked_anew c on c.subject = v.subject
qualify row_number() over (partition by v.subject, v.check_name order by v.made_at desc) = 1;
