-- How well each model reads that writes the calls without knowing the gold (the check reading), by build, language and family:
-- of the `n_planted` defects it caught or missed so many, and of the `n_doubles`, golds as they are, it doubted `n_doubted_doubles`. A row
-- with a `defect` is of that kind alone; the one with '' is of all. What people turned away is left out. Of the `n_read` that it read it
-- doubted `n_doubted`; `precision` is the share of right ones among those that it agreed with: with d doubted, f of the doubles doubted and m of
-- the defects missed, (d - f) / (1 - f - m) of what it read was wrong, and m of these it agreed with. `precision_low` is the same with d and m at the
-- upper and f at the lower of their 95 % bounds (Wilson): what is known, however few were planted. Both are null where nothing was.
create or replace view reader_precision as
with turned_away as (
    select distinct subject from decisions where decision <> 'accept' and kind <> 'dialogue_acts'
), facts as (
    select b.build, s.key, s.language, coalesce(k.family, s.kind) as family
    from build_samples b join samples s on s.key = b.sample left join kinds k on k.name = s.kind
), planted as (
    select f.build, p.reader, f.language, f.family, p.defect, p.outcome
    from planted_readings p join facts f on f.key = p.subject anti join turned_away t on t.subject = p.subject
), counted as (
    select build, reader, language, family, defect, count(*) filter (outcome in ('caught', 'missed')) as n_planted,
        count(*) filter (outcome = 'caught') as n_caught, count(*) filter (outcome = 'missed') as n_missed,
        count(*) filter (outcome in ('passed', 'falsely_doubted')) as n_doubles,
        count(*) filter (outcome = 'falsely_doubted') as n_doubted_doubles
    from (select * from planted where defect <> '' union all select * replace ('' as defect) from planted) group by all
), reads as (
    select f.build, v.model as reader, f.language, f.family, '' as defect, count(*) as n_read,
        count(*) filter (v.decision <> 'proved') as n_doubted
    from all_newest_verdicts v join facts f on f.key = v.subject
    where v.check_name = 'reading' and v.model <> '' group by all
), joined as (
    select build, reader, language, family, defect, coalesce(r.n_read, 0) as n_read, coalesce(r.n_doubted, 0) as n_doubted,
        coalesce(c.n_planted, 0) as n_planted, coalesce(c.n_caught, 0) as n_caught, coalesce(c.n_missed, 0) as n_missed,
        coalesce(c.n_doubles, 0) as n_doubles, coalesce(c.n_doubted_doubles, 0) as n_doubted_doubles
    from counted c full join reads r using (build, reader, language, family, defect)
), shares as (
    select *, n_caught / nullif(n_planted, 0) as caught_share, share_interval(n_caught, n_planted) as of_caught,
        n_doubted_doubles / nullif(n_doubles, 0) as false_doubt_share, share_interval(n_doubted_doubles, n_doubles) as of_doubt,
        1 - n_doubted / nullif(n_read, 0) as chosen, least(1, share_interval(n_doubted, n_read).high) as most_doubted
    from joined
), wrong as (
    select *, if(chosen > 0, (1 - caught_share) / chosen * (1 - chosen - coalesce(false_doubt_share, 0)) / nullif(greatest(0, caught_share - coalesce(false_doubt_share, 0)), 0), null) as wrong,
        if(chosen > 0, (1 - of_caught.low) / chosen * (most_doubted - coalesce(of_doubt.low, 0)) / nullif(greatest(0, of_caught.low - coalesce(of_doubt.low, 0)), 0), null) as most_wrong
    from shares
)
select build, reader, language, family, defect, n_read, n_doubted, n_planted, n_caught, n_missed, caught_share, of_caught.low as caught_low,
    of_caught.high as caught_high, n_doubles, n_doubted_doubles, false_doubt_share, of_doubt.low as false_doubt_low, of_doubt.high as false_doubt_high,
    case when defect = '' and wrong is not null then 1 - greatest(0, least(1, wrong)) end as precision,
    case when defect = '' and n_planted > 0 then 1 - greatest(0, least(1, most_wrong)) end as precision_low
from wrong order by build, reader, language, family, defect;
