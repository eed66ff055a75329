-- How each run of a model went through multi-step samples, by domain and over all, over each split and ('') all that was answered (ComplexFuncBench 4.2, Table 2). `mean_steps` and
-- `mean_shortest_steps` are means, as the paper's over the runs that made calls at all. `end_state`, `needless_changes` and `told` are of tasks alone; those of users of live runs: the mean of their answers, and the shares
-- of wordings that were refused and of answers that are amiss.
create or replace view domain_board as
with runs as (
    select r.*, s.category, unnest(list_distinct(['', coalesce(m.split, '')])) as split
    from multi_step_runs r join (select key, category from samples) s on s.key = r.subject
    left join release_samples m on m.release = r.release and m.subject = r.subject
)
select
    release, split, candidate, strategy, mode, run, judge, coalesce(category, 'all') as domain, count(*) as n_runs,
    count(*) filter (success) / count(*) as success_rate, sum(correct_calls) / nullif(sum(total_calls), 0) as call_acc,
    avg(completeness) as completeness, avg(correctness) as correctness, avg(steps) filter (steps > 0) as mean_steps,
    avg(shortest) as mean_shortest_steps, count(*) filter (coalesce(end_reached, success) and needless_changes is not null) / nullif(count(needless_changes), 0) as end_state,
    avg(needless_changes) as needless_changes, count(*) filter (untold = 0) / nullif(count(untold), 0) as told,
    avg(user_turns) as mean_user_turns, sum(user_refused) / nullif(sum(user_wordings), 0) as user_refused_share,
    sum(user_errors) / nullif(sum(user_turns), 0) as user_error_share
from runs
group by grouping sets (
    (release, split, candidate, strategy, mode, run, judge, category), (release, split, candidate, strategy, mode, run, judge)
)
order by release, split, candidate, mode, run, judge, category nulls last;
