-- What came of each sample in each run of a candidate: `is_passed` where all of its answers that were judged are right (by rule), or the
-- multi-step run was a success; `n_items` were judged, `n_right` of them are right. What was not judged at all has no row.
-- `split` is the sample's, null without splits.
create or replace view sample_results as
select
    p.release, m.split, p.candidate, p.strategy, p.tools_shown, '' as mode, '' as judge, p.run, p.subject as sample,
    bool_and(p.error_type = '') as is_passed, count(*) as n_items, count(*) filter (p.error_type = '') as n_right
from predictions p left join release_samples m on m.release = p.release and m.subject = p.subject where p.error_type is not null group by all
union all
select r.release, m.split, r.candidate, r.strategy, 'first', r.mode, r.judge, r.run, r.subject, r.success, 1, r.success::integer
from multi_step_runs r left join release_samples m on m.release = r.release and m.subject = r.subject;

-- The share of samples that a candidate passes in all of k runs (pass^k) and in at least one of k (pass@k), for each k up to
-- the number of runs; an unbiased estimate from all runs: C(c, k) / C(n, k) for c passes in n runs. Over all kinds (`kind` is
-- 'all') and by kind, over each split and ('') all of it. Samples that not all runs of a split answered are left out. `low` and
-- `high` are 95 % bounds over samples (Wilson).
create or replace view pass_k as
with counted as (
    select
        release, unnest(list_distinct(['', coalesce(split, '')])) as split, candidate, strategy, tools_shown, mode, judge, sample,
        count(*) as runs, count(*) filter (is_passed) as passes
    from sample_results group by release, sample_results.split, candidate, strategy, tools_shown, mode, judge, sample
), whole as (
    select *, max(runs) over (partition by release, split, candidate, strategy, tools_shown, mode, judge) as all_runs from counted
), kinds_of as (
    select w.*, unnest([s.kind, 'all']) as kind from whole w join (select key, kind from samples) s on s.key = w.sample
    where w.runs = w.all_runs
), shares as (
    select
        o.release, o.split, o.candidate, o.strategy, o.tools_shown, o.mode, o.judge, o.kind, o.runs, k.k, count(*) as samples,
        avg(list_product(list_transform(range(k.k), lambda place: greatest(0, o.passes - place) / (o.runs - place)))) as pass_all,
        1 - avg(list_product(list_transform(range(k.k), lambda place: greatest(0, o.runs - o.passes - place) / (o.runs - place)))) as pass_any
    from kinds_of o, unnest(range(1, o.runs + 1)) as k(k) group by all
), bounds as (
    select *, 1.959963984540054 as z, (pass_all + z * z / (2 * samples)) / (1 + z * z / samples) as centre,
        z / (1 + z * z / samples) * sqrt(pass_all * (1 - pass_all) / samples + z * z / (4 * samples * samples)) as half
    from shares
)
select
    release, split, candidate, strategy, tools_shown, mode, judge, kind, runs as n_runs, k, samples as n_samples, pass_all, greatest(0, centre - half) as low,
    least(1, centre + half) as high, pass_any
from bounds order by release, split, candidate, strategy, tools_shown, mode, judge, kind <> 'all', kind, k;

-- The mean of each score over the runs of a candidate, over a split of the release or ('') all of it. `low` and `high` are its 95 % interval over samples, the mean of the runs' own
-- (on the safe side, since runs even out); `run_low` and `run_high` are Student's 95 % interval over runs on these same samples
-- (`deviation` is theirs), null for one run: how much more runs would move the mean.
create or replace view run_means as
with means as (
    select
        release, split, candidate, strategy, tools_shown, judge, snapshots, metric, slice_by, slice_value, count(*) as runs,
        avg(value) as mean, stddev_samp(value) as deviation, min(value) as lowest, max(value) as highest, any_value(count) as count,
        avg(low) as low, avg(high) as high
    from scores group by release, split, candidate, strategy, tools_shown, judge, snapshots, metric, slice_by, slice_value
), students as (
    select *, [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042][least(runs - 1, 30)]
        * deviation / sqrt(runs) as half
    from means
)
select
    release, split, candidate, strategy, tools_shown, judge, snapshots, metric, slice_by, slice_value, runs as n_runs, mean,
    low, high, mean - half as run_low, mean + half as run_high, deviation, lowest, highest, count as n_things
from students;
