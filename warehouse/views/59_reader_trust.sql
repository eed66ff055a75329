-- Whether a reader of a build may settle anything: of all planted defects it caught the share `caught_share`, of the sort that it caught
-- worst, `worst_defect`, `worst_share` (at most `worst_high`, by Wilson's 95 % bound; sorts with fewer than five planted are too few to
-- tell), and it agreed with the share `agreed_share` of all golds that it read. Null where nothing was planted.
create or replace view reader_trust as
with sums as (
    select build, reader, defect, sum(n_read)::bigint as n_read, sum(n_planted)::bigint as n_planted, sum(n_caught)::bigint as n_caught,
        sum(n_doubles)::bigint as n_doubles, sum(n_doubted)::bigint as n_doubted
    from reader_precision group by all
), sorts as (
    select *, n_caught / n_planted as share, share_interval(n_caught, n_planted).high as high from sums where defect <> '' and n_planted >= 5
), worst as (
    select build, reader, arg_min(defect, high) as worst_defect, arg_min(share, high) as worst_share, min(high) as worst_high,
        arg_min(n_planted, high) as n_worst_planted
    from sorts group by all
)
select s.build, s.reader, s.n_read, s.n_planted, s.n_caught, s.n_caught / nullif(s.n_planted, 0) as caught_share,
    share_interval(s.n_caught, s.n_planted).low as caught_low, share_interval(s.n_caught, s.n_planted).high as caught_high,
    w.worst_defect, w.n_worst_planted, w.worst_share, w.worst_high,
    if(s.n_planted + s.n_doubles > 0, 1 - s.n_doubted / nullif(s.n_read, 0), null) as agreed_share
from sums s left join worst w using (build, reader) where s.defect = '' order by s.build, s.reader;
