-- Whether a reader of a build may settle anything: of all planted defects it caught the share `catch_rate`, of the sort that it caught
-- worst, `worst_defect`, `worst_rate` (at most `worst_high`, by Wilson's 95 % bound; sorts with fewer than five planted are too few to
-- tell), and it agreed with the share `agreed` of all golds that it read. Null where nothing was planted.
create or replace view reader_trust as
with sums as (
    select build, reader, defect, sum(read)::bigint as read, sum(planted)::bigint as planted, sum(caught)::bigint as caught,
        sum(doubles)::bigint as doubles, sum(doubted)::bigint as doubted
    from reader_precision group by all
), sorts as (
    select *, caught / planted as rate, share_interval(caught, planted).high as high from sums where defect <> '' and planted >= 5
), worst as (
    select build, reader, arg_min(defect, high) as worst_defect, arg_min(rate, high) as worst_rate, min(high) as worst_high,
        arg_min(planted, high) as worst_planted
    from sorts group by all
)
select s.build, s.reader, s.read, s.planted, s.caught, s.caught / nullif(s.planted, 0) as catch_rate,
    share_interval(s.caught, s.planted).low as catch_low, share_interval(s.caught, s.planted).high as catch_high,
    w.worst_defect, w.worst_planted, w.worst_rate, w.worst_high,
    if(s.planted + s.doubles > 0, 1 - s.doubted / nullif(s.read, 0), null) as agreed
from sums s left join worst w using (build, reader) where s.defect = '' order by s.build, s.reader;
