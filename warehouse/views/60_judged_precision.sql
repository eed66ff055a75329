-- What a model's word is worth that a sample of a build rests on: the precision of the `readers` that settle it, in the sample's language
-- and family (see reader_precision), of several the lowest. Null where one of them was not measured, which is so for all but the
-- readings by choice.
create or replace view judged_precision as
with settled as (
    select b.build, v.subject, v.model as reader, v.check_name = 'reading' as by_choice
    from all_newest_verdicts v join stages t on t.name = v.check_name join build_samples b on b.sample = v.subject
    where v.grade = 'judged' and len(t.settles) > 0
)
select t.build, t.subject, list_sort(list(distinct t.reader)) as readers,
    if(count(*) = count(p.precision), min(p.precision), null) as precision,
    if(count(*) = count(p.precision_low), min(p.precision_low), null) as precision_low
from settled t join samples s on s.key = t.subject left join kinds k on k.name = s.kind
left join reader_precision p on p.build = t.build and p.reader = t.reader and p.language = s.language
    and p.family = coalesce(k.family, s.kind) and p.defect = '' and t.by_choice
group by t.build, t.subject;
