-- One row a model, split of the release ('' is all of it), slice, choice of snapshots and judge ('' is by rule): the metrics as columns of their HammerBench names,
-- then ComplexFuncBench's, as its paper defines them and (`_published`) as its published code counts them.
create or replace view metrics_by_slice as
select
    release, split, candidate, strategy, tools_shown, run, judge, snapshots, slice_by, slice_value,
    max(value) filter (metric = 'func_acc') as func_acc,
    max(value) filter (metric = 'args_acc') as args_acc,
    max(value) filter (metric = 'args_acc_exact') as args_acc_exact,
    max(value) filter (metric = 'pn_hr') as pn_hr,
    max(value) filter (metric = 'pn_hr_definition') as pn_hr_definition,
    max(value) filter (metric = 'pn_mr') as pn_mr,
    max(value) filter (metric = 'pr') as pr,
    max(value) filter (metric = 'sr') as sr,
    max(value) filter (metric = 'args_acc/func_acc') as args_acc_per_func_acc,
    max(value) filter (metric = 'pr/func_acc') as pr_per_func_acc,
    max(value) filter (metric = 'sr/func_acc') as sr_per_func_acc,
    max(value) filter (metric = 'irrelevant') as irrelevant,
    max(value) filter (metric = 'intent_shift') as intent_shift,
    max(value) filter (metric = 'no_call') as no_call,
    max(value) filter (metric = 'success_rate') as success_rate,
    max(value) filter (metric = 'call_acc') as call_acc,
    max(value) filter (metric = 'completeness') as completeness,
    max(value) filter (metric = 'correctness') as correctness,
    max(value) filter (metric = 'end_state') as end_state,
    max(value) filter (metric = 'needless_changes') as needless_changes,
    max(value) filter (metric = 'told') as told,
    max(value) filter (metric = 'recovery_rate') as recovery_rate,
    max(value) filter (metric = 'utility_under_attack') as utility_under_attack,
    max(value) filter (metric = 'attack_success_rate') as attack_success_rate,
    max(value) filter (metric = 'benign_utility') as benign_utility,
    max(value) filter (metric = 'policy_violations') as policy_violations,
    max(value) filter (metric = 'over_refusals') as over_refusals,
    max(value) filter (metric = 'success_rate_published') as success_rate_published,
    max(value) filter (metric = 'call_acc_published') as call_acc_published,
    max(value) filter (metric = 'completeness_published') as completeness_published,
    max(value) filter (metric = 'correctness_published') as correctness_published,
    max(low) filter (metric = 'func_acc') as func_acc_low,
    max(high) filter (metric = 'func_acc') as func_acc_high,
    max(low) filter (metric = 'args_acc') as args_acc_low,
    max(high) filter (metric = 'args_acc') as args_acc_high,
    max(low) filter (metric = 'success_rate') as success_rate_low,
    max(high) filter (metric = 'success_rate') as success_rate_high,
    max(count) filter (metric = 'func_acc') as n_conversations,
    max(count) filter (metric = 'args_acc') as n_snapshots,
    max(count) filter (metric in ('success_rate', 'success_rate_published')) as n_multi_step_runs
from scores group by all;

-- One row a run of a candidate by a strategy, over all of a release (`split` is '') or one of its splits, and a judge. First the headline
-- figure, the same in the rows of all judges: of the `n_judged` items (an answer at a snapshot, or a whole multi-step run) `n_right` are
-- right by rule; `right_share` lies between `right_low` and `right_high` with 95 % confidence (Wilson, for as many items as would make the
-- share vary as it does from sample to sample). Then the metrics of the papers, the main ones with 95 % intervals over samples (`_low`,
-- `_high`). Fractions; completeness and correctness from 0 to 2. What was not answered to its end is not scored (`is_scored`): its metrics are
-- null, and its headline is of what there is. Beside them what this run's
-- answers to these samples cost, how long one request took (the median of those that were not in the ledger), and how often people find
-- the metric right about the candidate, however it was asked (`metric_right_share`, see metric_precision; null where nobody was asked).
create or replace view leaderboard as
with asked as (
    select c.*, unnest(list_distinct(['', coalesce(m.split, '')])) as of_split
    from llm_calls c left join release_samples m on m.release = c.release and m.subject = c.subject
    where c.release <> '' and c.candidate <> ''
), spent as (
    select
        release, of_split as split, candidate, strategy, sample_index as run, sum(cost) as cost,
        quantile_cont(latency, 0.5) filter (not cached) as median_latency
    from asked group by all
), items as (
    select
        release, subject, candidate, strategy, tools_shown, run, count(*) as predictions, count(*) as items, count(error_type) as j,
        count(*) filter (error_type = '') as r
    from predictions group by all
    union all
    select release, subject, candidate, strategy, 'first', run, 0, 1, count(success), count(*) filter (success) from (
        from multi_step_runs qualify row_number() over (
            partition by release, candidate, strategy, run, subject order by mode <> 'as_paper', judge <> '', made_at desc
        ) = 1
    ) group by all
), by_sample as (
    select
        i.release, unnest(list_distinct(['', coalesce(m.split, '')])) as split, i.subject, i.candidate, i.strategy, i.tools_shown, i.run,
        i.predictions, i.items, i.j, i.r
    from items i left join release_samples m on m.release = i.release and m.subject = i.subject
), counted as ( -- items of one sample depend on each other: the interval needs sums over samples of what was judged (j) and is right (r)
    select
        release, split, candidate, strategy, tools_shown, run, sum(predictions)::bigint as predictions, sum(items)::bigint as n_items,
        sum(j)::bigint as n_judged, sum(r)::bigint as n_right, count(distinct subject) filter (j > 0) as samples,
        sum(r) / nullif(sum(j), 0) as right_share, sum(r * r)::double as rr, sum(r * j)::double as rj, sum(j * j)::double as jj
    from by_sample group by all
), varied as (
    select *, (rr - 2 * right_share * rj + right_share ** 2 * jj) / n_judged ** 2 as variance from counted
), worth as (
    select *, case
        when samples = n_judged then n_judged
        when variance > 0 then greatest(1, least(n_judged, right_share * (1 - right_share) / variance))
        else samples end as independent
    from varied
), answered as (
    select *, share_interval(right_share * independent, independent) as bounds from worth
), audited as (
    select release, candidate, metric_right_share from metric_precision where is_counted_right is null
), scored as (
    from metrics_by_slice where slice_by = 'all' and snapshots = 'all'
)
select
    release, split, candidate, strategy, tools_shown, run, coalesce(m.judge, '') as judge, m.slice_by is not null as is_scored, a.n_items, a.n_judged, a.n_right,
    a.right_share, a.bounds.low as right_low, a.bounds.high as right_high, m.func_acc, m.args_acc, m.pn_hr, m.pn_mr, m.pr, m.sr,
    m.irrelevant, m.intent_shift, m.args_acc_per_func_acc, m.pr_per_func_acc, m.sr_per_func_acc, m.pn_hr_definition,
    coalesce(a.predictions, 0) as n_predictions, m.success_rate, m.call_acc, m.completeness, m.correctness, m.success_rate_published,
    m.call_acc_published, m.completeness_published, m.correctness_published, coalesce(m.n_multi_step_runs, 0) as n_multi_step_runs,
    m.args_acc_exact, m.func_acc_low, m.func_acc_high, m.args_acc_low, m.args_acc_high, m.success_rate_low, m.success_rate_high,
    m.end_state, m.needless_changes, m.told,
    m.recovery_rate, m.utility_under_attack, m.attack_success_rate, m.benign_utility, m.policy_violations, m.over_refusals,
    s.cost, s.median_latency, u.metric_right_share
from scored m
full join answered a using (release, split, candidate, strategy, tools_shown, run)
left join spent s using (release, split, candidate, strategy, run)
left join audited u using (release, candidate)
order by release, split, judge, right_share desc nulls last, args_acc desc nulls last, success_rate desc nulls last, candidate, strategy, run;
