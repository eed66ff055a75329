-- name: of_scope
-- $1 to $7 are a release, a split, a strategy, which tools were shown, a mode and a judge of multi-step runs, a candidate.
release = $1 and $2 in ('', coalesce(split, '')) and strategy = $3 and candidate = $7 and @as_asked

-- name: as_asked
(mode = '' and tools_shown = $4 or mode = $5 and judge = $6)

-- name: figures
select metric, judge, avg(value) as value from scores
where release = $1 and candidate = $7 and strategy = $3 and split = $2 and judge in ('', $6) and slice_by = 'all' and snapshots = 'all'
    and tools_shown = $4
group by metric, judge
union all
select 'pass_rate', '', avg(is_passed::integer) from sample_results where @of_scope having count(*) > 0
order by metric, judge

-- name: items
with of_release as (
    select i.*, m.split from prediction_items i left join release_samples m on m.release = i.release and m.subject = i.sample
    where i.release = $1 and i.candidate = $7
)
select i.sample, i.kind, i.turn, i.run, i.due, i.calls, i.text, i.problem, i.is_right as verdict, i.error_type, i.matched, s.request
from (from of_release where @of_scope) i join samples s on s.key = i.sample
order by i.sample, i.turn, i.run

-- name: contestants
select distinct candidate, strategy from sample_results where release = ? order by all

-- name: compared
-- $8 and $9 are the other candidate and its strategy.
select
    coalesce(sum(n_samples), 0)::bigint as samples,
    coalesce(sum(if(candidate = $7 and strategy = $3, n_only_candidate, n_only_other)), 0)::bigint as only_one,
    coalesce(sum(if(candidate = $7 and strategy = $3, n_only_other, n_only_candidate)), 0)::bigint as only_other
from paired_comparisons
where release = $1 and split = $2 and kind = 'all' and @as_asked
    and ((candidate = $7 and strategy = $3 and other = $8 and other_strategy = $9)
        or (candidate = $8 and strategy = $9 and other = $7 and other_strategy = $3))
