-- In how many steps a run of a model made its calls, beside the shortest path's, by split (ComplexFuncBench 4.3.2, Figure 6).
create or replace view step_distribution as
select
    release, m.split, candidate, strategy, mode, run, judge, shortest as n_shortest_steps, steps as n_steps, steps - shortest as n_extra_steps, count(*) as n_runs,
    count(*) filter (success) as n_successes
from multi_step_runs left join release_samples m using (release, subject) group by all order by release, m.split, candidate, mode, run, judge, shortest, steps;
