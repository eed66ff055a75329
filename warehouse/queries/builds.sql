-- name: builds
with ended as (
    select build, count(*) filter (stage = 'land' and outcome = 'passed') as landed,
        count(distinct subject) filter (outcome = 'waiting') as waiting,
        count(distinct subject) filter (outcome = 'rejected') as rejected,
        count(distinct subject) filter (outcome = 'failed') as failed
    from outcomes group by build
), made as (select build, count(*) as made from build_samples group by build
), spent as (
    select build, sum(cost) as cost, sum(n_requests - n_cached)::bigint as calls, sum(cost_per_accepted) as cost_per_accepted
    from costs where build <> '' group by build
)
select b.key, b.recipe, b.started_at, b.finished_at, coalesce(b.is_trial, false) as is_trial,
    b.key in (select build from latest_builds) as is_latest,
    epoch(b.finished_at - b.started_at) as seconds, coalesce(m.made, 0) as made,
    coalesce(list_sum(json_extract(b.body, '$.samples.*')::integer[]), 0)::bigint as asked,
    coalesce(e.landed, 0) as landed, coalesce(e.waiting, 0) as waiting, coalesce(e.rejected, 0) as rejected,
    coalesce(e.failed, 0) as failed, coalesce(c.cost, 0) as cost, coalesce(c.calls, 0) as calls, c.cost_per_accepted
from builds b left join ended e on e.build = b.key left join made m on m.build = b.key
left join spent c on c.build = b.key

-- name: newest_first
@builds order by b.started_at desc

-- name: build
@builds where b.key = ?

-- name: earlier
@builds join builds one on one.key = ? and one.recipe = b.recipe and b.started_at < one.started_at
order by b.started_at desc limit 1

-- name: funnel
select stage, stage_group, position, n_entered as entered, n_passed as passed, n_rejected as rejected, n_failed as failed,
    n_waiting as waiting, n_not_applicable as not_applicable, n_personal_values as personal_data
from funnel where build = ? order by position

-- name: personal
select * rename (n_records as records, n_values as personal_values) from personal_data where build = ?

-- name: cost
select * from costs where build = ? order by cost desc, n_requests desc, stage

-- name: kinds
select kind, language, n_made as made, n_landed as landed, n_proved as proved, n_judged as judged, n_vouched as vouched,
    n_waiting as waiting
from composition where build = ? order by kind, language

-- name: left_out
select kind, language, place, count(*) filter (tool <> '') as tools, sum(samples)::bigint as samples, reason,
    coalesce(string_agg(tool, ', ' order by tool) filter (tool <> ''), '') as names
from left_out where build = ? group by kind, language, place, reason order by samples desc, tools desc, kind

-- name: readers
select * from reader_precision where build = ?

-- name: people
select * from reader_agreement where build = ?

-- name: reasons
select stage, outcome, reason_code, count(*) as records from outcomes
where build = ? and outcome <> 'passed' group by all order by records desc, stage limit 30

-- name: drift
with landed as (
    select o.build, s.kind, s.language, s.category, coalesce(a.grade, '') as grade,
        coalesce(json_extract_string(s.gold, '$[0].tool'), '(no call)') as tool
    from outcomes o join samples s on s.key = o.subject left join acceptances a on a.subject = s.key
    where o.stage = 'land' and o.outcome = 'passed' and o.build in ($1, $2)
), long as (unpivot landed on kind, language, category, grade, tool into name field value value),
counted as (
    select field, value, count(*) filter (build = $1) as now, count(*) filter (build = $2) as before from long group by all
), shares as (
    select *, now / nullif(sum(now) over (partition by field), 0) as share_now,
        before / nullif(sum(before) over (partition by field), 0) as share_before
    from counted
)
select *, coalesce(share_now, 0) - coalesce(share_before, 0) as change from shares
qualify row_number() over (partition by field order by abs(change) desc, value) <= 12
order by field, abs(change) desc, value

-- name: drift_of_stages
select 'stage, the share that passes' as field, slice_value as value, value_before as share_before, value as share_now,
    difference as change
from build_drift where build = ? and build_before = ? and figure = 'passed' and abs(difference) > 0
order by abs(difference) desc, slice_value limit 12

-- name: of_stage
-- As in the funnel: an edited sample's own way through the checks belongs to the review.
o.build = ? and ? in ('', o.stage) and ? in ('', o.outcome)
and (o.stage = 'land' or not exists (select 1 from samples e where e.key = o.subject and e.stage = 'review'))

-- name: outcomes
select o.subject, o.stage, o.outcome, o.reason_code, o.reason, o.decided_by, o.decided_who, o.carried_from,
    s.kind, s.language, s.request, coalesce(d.type, '') as type, f.error, f.reason as failure
from outcomes o left join samples s on s.key = o.subject left join drafts d on d.key = o.subject
left join failures f on f.build = o.build and f.stage = o.stage and f.subject = o.subject
where @of_stage order by s.key is null, o.reason_code, o.subject limit @page_size offset ?

-- name: outcomes_in_all
select count(*) as records from outcomes o where @of_stage

-- name: end
-- Counted, since a clock may be set back.
update builds set finished_at = now(), sequence = (select coalesce(max(sequence), 0) + 1 from builds) where key = ?
