-- How well each model reads that writes the calls without knowing the gold (the check reading), by build, language and family:
-- of the `planted` defects it `caught` or `missed` so many, and of the `doubles`, golds as they are, it `doubted_doubles`. A row
-- with a `defect` is of that kind alone; the one with '' is of all. What people turned away is left out. Of what it `read` it
-- `doubted` some; `precision` is the share of right ones among those that it agreed with: with d doubted, f of the doubles doubted and m of
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
    select build, reader, language, family, defect, count(*) filter (outcome in ('caught', 'missed')) as planted,
        count(*) filter (outcome = 'caught') as caught, count(*) filter (outcome = 'missed') as missed,
        count(*) filter (outcome in ('passed', 'falsely_doubted')) as doubles,
        count(*) filter (outcome = 'falsely_doubted') as doubted_doubles
    from (select * from planted where defect <> '' union all select * replace ('' as defect) from planted) group by all
), reads as (
    select f.build, v.model as reader, f.language, f.family, '' as defect, count(*) as read,
        count(*) filter (v.decision <> 'proved') as doubted
    from all_newest_verdicts v join facts f on f.key = v.subject
    where v.check_name = 'reading' and v.model <> '' group by all
), joined as (
    select build, reader, language, family, defect, coalesce(r.read, 0) as read, coalesce(r.doubted, 0) as doubted,
        coalesce(c.planted, 0) as planted, coalesce(c.caught, 0) as caught, coalesce(c.missed, 0) as missed,
        coalesce(c.doubles, 0) as doubles, coalesce(c.doubted_doubles, 0) as doubted_doubles
    from counted c full join reads r using (build, reader, language, family, defect)
), shares as (
    select *, caught / nullif(planted, 0) as catch_rate, share_interval(caught, planted) as of_caught,
        doubted_doubles / nullif(doubles, 0) as false_doubts, share_interval(doubted_doubles, doubles) as of_doubts,
        1 - doubted / nullif(read, 0) as chosen, least(1, share_interval(doubted, read).high) as most_doubted
    from joined
), wrong as (
    select *, if(chosen > 0, (1 - catch_rate) / chosen * (1 - chosen - coalesce(false_doubts, 0)) / nullif(greatest(0, catch_rate - coalesce(false_doubts, 0)), 0), null) as wrong,
        if(chosen > 0, (1 - of_caught.low) / chosen * (most_doubted - coalesce(of_doubts.low, 0)) / nullif(greatest(0, of_caught.low - coalesce(of_doubts.low, 0)), 0), null) as most_wrong
    from shares
)
select build, reader, language, family, defect, read, doubted, planted, caught, missed, catch_rate, of_caught.low as catch_low,
    of_caught.high as catch_high, doubles, doubted_doubles, false_doubts, of_doubts.low as doubts_low, of_doubts.high as doubts_high,
    case when defect = '' and wrong is not null then 1 - greatest(0, least(1, wrong)) end as precision,
    case when defect = '' and planted > 0 then 1 - greatest(0, least(1, most_wrong)) end as precision_low
from wrong order by build, reader, language, family, defect;
