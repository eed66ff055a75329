-- One row a model on a release: the metrics over all of it, as columns of their HammerBench names. Fractions.
create or replace view leaderboard as
select
    release, model, strategy, run,
    max(value) filter (metric = 'func_acc') as func_acc,
    max(value) filter (metric = 'args_acc') as args_acc,
    max(value) filter (metric = 'pn_hr') as pn_hr,
    max(value) filter (metric = 'pn_mr') as pn_mr,
    max(value) filter (metric = 'irrelevant') as irrelevant,
    (
        select count(*) from predictions p
        where p.release = scores.release and p.model = scores.model and p.strategy = scores.strategy and p.run = scores.run
    ) as predictions
from scores where slice_by = 'all'
group by release, model, strategy, run
order by release, args_acc desc nulls last;
