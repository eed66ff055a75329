-- name: decisions
-- Of several review kinds the newest word counts; what was stated about a whole template is the last to count, and what was
-- said about dialogue acts alone comes after all that was stated about the whole sample.
select subject, decision, reviewer, reviewed_at, reasons, result, kind from decisions
where list_contains(?::varchar[], kind) and subject in (select key from samples)
order by kind = ?, kind <> 'correction', reviewed_at

-- name: roots
-- A root has a position in the funnel of its own; an edited sample sits in the position of its root.
select distinct d.subject from decisions d join samples s on s.key = d.subject where s.stage <> 'review'

-- name: undecided_edits
-- Edits that rest on one person's word alone: no check contradicts them, and all together leave something open.
select g.subject, any_value(r.reviewer) as reviewer, coalesce((
    select string_agg(n.reason, ' ' order by n.check_name) from (
        select check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
        from verdicts v where v.subject = g.subject group by check_name
    ) n where n.decision <> 'proved' and n.reason <> ''
), 'No check can tell whether it is right.') as reason
from sample_grades g join standing_reviews r on r.result = g.subject and r.decision = 'edit'
join samples s on s.key = g.subject
where s.stage = 'review' and g.grade = 'open' and list_contains(?::varchar[], r.kind)
group by g.subject having count(distinct r.reviewer) = 1

-- name: doubts
with edited as (select distinct result as subject from decisions where decision = 'edit'),
stopped as (
    select f.subject, arg_max(f.reason, f.made_at) as reason from outcomes f join edited e on e.subject = f.subject
    where f.outcome in ('waiting', 'failed') group by f.subject
), undecided as (@undecided_edits)
select e.subject, coalesce(s.reason, u.reason, ?) as reason
from edited e left join stopped s on s.subject = e.subject left join undecided u on u.subject = e.subject
where s.subject is not null or u.subject is not null
    or not exists (select 1 from verdicts v where v.subject = e.subject)

-- name: positions
select f.* exclude (made_at) from outcomes f join stages t on t.name = f.stage
where f.subject in (select subject from decisions)
qualify row_number() over (partition by f.build, f.subject order by t.position desc) = 1
order by f.build, f.subject

-- name: independent
select distinct f.build, f.subject from outcomes f join decisions d on d.result = f.subject
join samples s on s.key = f.subject where s.stage <> 'review'

-- name: landed_edits
select f.* exclude (made_at) from outcomes f join samples s on s.key = f.subject
where f.stage = 'land' and s.stage = 'review'

-- name: acceptances
-- Of every sample that was decided about or came of an edit: its acceptance, the build that asked, and its grade by what
-- checks say.
with family as (
    select subject, subject as asked from decisions
    union select s.key, coalesce(r.subject, s.key) from samples s
        left join reviews r on r.result = s.key where s.stage = 'review'
    union select result, subject from decisions where decision = 'edit'
), asked as (
    select y.subject, arg_max(b.key, b.started_at) as build, arg_max(b.recipe, b.started_at) as recipe
    from family y join outcomes f on f.subject = y.asked join builds b on b.key = f.build group by y.subject
)
select k.subject, a.build, a.recipe, a.accepted_by, a.decided_by, a.accepted_at, a.withdrawn_at, a.grade,
    a.judged_by, k.build as asked_build, k.recipe as asked_recipe, coalesce(g.grade, 'open') as asked_grade
from asked k left join acceptances a on a.subject = k.subject left join sample_grades g on g.subject = k.subject

-- name: tool_decisions
select subject, decision, reviewer, reviewed_at, reasons, result from decisions where kind = ?

-- name: tool_doubts
-- Why a tool that a person wrote can't be used as it is: no check has seen it yet, or one contradicts it.
with newest as (
    select subject, check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
    from verdicts group by all
)
select d.result as subject,
    coalesce(string_agg(n.reason, ' ' order by n.check_name) filter (n.decision = 'contradicted'), ?) as reason
from decisions d left join newest n on n.subject = d.result
where d.kind = ? and d.decision = 'edit' group by d.result
having count(n.subject) = 0 or bool_or(n.decision = 'contradicted')

-- name: unseen
select d.result as key, any_value(d.reviewer) as reviewer, list(distinct d.subject) as parents, min(q.build) as build
from decisions d join review_requests q on q.subject = d.subject and q.kind = d.kind
where d.kind = ? and d.decision = 'edit' and not exists (select 1 from verdicts v where v.subject = d.result)
group by d.result order by all

-- name: tool_positions
select f.* exclude (made_at)
from (select distinct toolset, tool from made_tools) m
join outcomes f on f.build = m.toolset and f.subject = m.tool join stages t on t.name = f.stage
where list_contains(?, f.stage) and exists (select 1 from decisions d where d.subject = f.subject and d.kind = ?)
qualify row_number() over (partition by f.build, f.subject order by t.position desc) = 1
order by f.build, f.subject
