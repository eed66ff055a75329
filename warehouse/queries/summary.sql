-- name: now
build in (select build from latest_builds)

-- name: landed_now
key in (select m.sample from build_samples m join latest_builds l on l.build = m.build)

-- name: run_name
-- One run of a candidate, named as shortly as it can be distinguished from the others.
candidate || if(strategy <> 'direct', ', by ' || strategy, '')
    || if(tools_shown = 'always', ', all tools always', '') || if(run > 0, ', run ' || (run + 1), '')
    || if(split <> '', ', ' || split || ' split alone', '') as name

-- name: whole
-- All of a release, or its splits where a candidate has not answered all of it.
(split = '' or (release, candidate) not in (select (release, candidate) from scores where split = ''))

-- name: builds
with planned as (select key as build, list_sum(json_extract(body, '$.samples.*')::integer[])::bigint as planned from builds),
ended as (
    select build, count(*) filter (stage = 'land' and outcome = 'passed') as landed,
        count(distinct subject) filter (outcome = 'waiting') as waiting,
        count(distinct subject) filter (outcome = 'rejected') as rejected,
        count(distinct subject) filter (outcome = 'failed') as failed
    from outcomes where @now group by build
)
select l.recipe, l.build, l.is_trial, l.started_at, coalesce(p.planned, 0) as planned, coalesce(e.landed, 0) as landed,
    coalesce(e.waiting, 0) as waiting, coalesce(e.rejected, 0) as rejected, coalesce(e.failed, 0) as failed
from latest_builds l left join planned p using (build) left join ended e using (build) order by l.started_at desc

-- name: funnel
select stage, min(position) as position, sum(n_entered)::bigint as entered, sum(n_passed)::bigint as passed,
    sum(n_rejected)::bigint as rejected, sum(n_failed)::bigint as failed, sum(n_waiting)::bigint as waiting,
    sum(n_entered) = sum(n_passed) as none_stopped
from funnel where is_latest group by stage having sum(n_not_applicable) < sum(n_entered) order by position

-- name: accepted
select kind, language, count(*) as samples, count(*) filter (grade = 'proved') as proved,
    count(*) filter (grade = 'judged') as judged, count(*) filter (grade = 'vouched') as vouched,
    count(*) filter (is_template) as of_template
from accepted_samples where @landed_now group by all order by kind, language

-- name: categories
select category, count(*) as samples from accepted_samples where @landed_now
group by all order by samples desc, category

-- name: grades
select grade, coalesce(is_template, false) as is_template, n_samples as samples, n_judged as reviewed, n_bad as bad, precision
from check_precision where check_name = 'land'

-- name: repeated
select * from repeated_words where @now and is_too_frequent

-- name: superseded
select count(*) as samples from acceptances
where withdrawn_at is null and subject not in (select sample from build_samples where @now)

-- name: readers
select b.recipe, p.* from reader_precision p join builds b on b.key = p.build where @now order by all

-- name: people
select b.recipe, p.* from reader_agreement p join builds b on b.key = p.build where @now order by all

-- name: checks
select * from check_precision where check_name <> 'land'

-- name: audits
select source, model, check_name, n_broken as broken, n_still_proved as still_proved, recall, recall_low, recall_high, n_intact as intact,
    alarm_share as false_alarms, precision
from audit_summary where slice_by = 'all'

-- name: unseen
select source, model, slice_value as defect, n_broken as broken, n_still_proved as still_proved, recall, recall_low, recall_high from audit_summary
where check_name = 'all checks' and slice_by = 'defect' and n_still_proved > 0
order by source, model, n_still_proved / n_broken desc, defect

-- name: arguments
select source, model, language, grade, n_wrong as wrong, n_wrong_landed as wrong_landed, n_correct as correct, precision
from audit_argument_grades

-- name: kinds
select release, @run_name, judge, slice_value as kind, max(n_conversations) as conversations,
    max(func_acc) filter (snapshots = 'all') as func_acc, max(args_acc) filter (snapshots = 'all') as args_acc, max(pn_hr) filter (snapshots = 'all') as pn_hr,
    max(pn_mr) filter (snapshots = 'all') as pn_mr, max(pr) filter (snapshots = 'all') as pr, max(sr) filter (snapshots = 'all') as sr,
    max(args_acc) filter (snapshots = 'shift') as args_acc_at_shift, max(coalesce(irrelevant, intent_shift)) as stopped
from metrics_by_slice where slice_by = 'kind' and @whole group by all having count(func_acc) + count(no_call) > 0
order by release, kind, name, judge

-- name: answers
select *, @run_name from answer_board where slice_by in ('all', 'difficulty') and @whole
order by release, name, slice_by, slice_value

-- name: domains
select * from domain_board where split = ''

-- name: parameter_types
select release, candidate, mode, judge, parameter_type, sum(n_due)::bigint as due, sum(n_wrong)::bigint as wrong,
    sum(n_wrong) / sum(n_due) as error_rate
from parameter_type_errors group by all order by release, candidate, mode, judge, error_rate desc, parameter_type

-- name: steps
select release, candidate, mode, judge, n_extra_steps as extra_steps, sum(n_runs)::bigint as runs, sum(n_successes)::bigint as successes
from step_distribution group by all order by release, candidate, mode, judge, extra_steps

-- name: cost
select b.recipe, b.build, coalesce(any_value(c.n_accepted), 0) as n_accepted, coalesce(sum(c.n_requests - c.n_cached), 0)::bigint as calls,
    coalesce(sum(c.cost), 0) as cost, sum(c.requests_per_accepted) as requests_per_accepted, sum(c.cost_per_accepted) as cost_per_accepted
from latest_builds b left join costs c on c.build = b.build group by b.recipe, b.build order by b.recipe

-- name: samples
-- Of each reason some, of different kinds; then a few that nobody has anything against.
with landed as (
    select a.subject, a.grade, a.judged_by, s.kind, s.language from acceptances a join samples s on s.key = a.subject
    where a.withdrawn_at is null and s.@landed_now
), reasons as (
    select subject, 1 as rank, 'Candidates agree on an answer that differs from the gold call.' as why from suspects where n_agreeing > 1
    union all
    select subject, 2, 'Every candidate fails: ' || errors from suspects where n_agreeing <= 1 and n_failing = n_candidates
    union all
    select subject, 3, 'A reviewer decided: ' || decision || if(comment <> '', ': “' || comment || '”', '.') from decisions
    union all
    select subject, 4, stage || ' contradicts the gold call: ' || reason from outcomes
    where outcome = 'waiting' and reason_code = 'contradicted' and @now
    union all
    select min(a.subject), 5, 'Accepted only because ' || array_to_string(any_value(a.judged_by), ', ') || ' judged it right.'
    from landed a where a.grade = 'judged' group by a.kind, a.language
    union all
    select min(a.subject), 6, 'Accepted, proved by code.' from landed a
    where a.grade = 'proved' group by a.kind, a.language
), firsts as (
    select r.subject, min(r.rank) as rank, arg_min(r.why, r.rank) as why from reasons r group by r.subject
), ranked as (
    select f.*, s.kind, s.language, s.request, s.category,
        row_number() over (partition by f.rank, s.kind, s.language order by f.subject) as of_kind
    from firsts f join samples s on s.key = f.subject
), spread as (
    select *, row_number() over (partition by rank order by of_kind, subject) as place from ranked
)
select subject as key, kind, language, category, request, why from spread order by place > 2, rank, place limit @read
