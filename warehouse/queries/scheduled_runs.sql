-- name: runs
-- The runs of a recipe's schedule, in order.
select * from scheduled_runs where recipe = ? order by run

-- name: figures
-- What runs have made and cost: the samples of their builds that have landed, wait or were turned away.
with ended as (
    select build, count(distinct subject) filter (stage = 'land' and outcome = 'passed') as landed,
        count(distinct subject) filter (outcome = 'waiting') as waiting,
        count(distinct subject) filter (outcome = 'rejected') as rejected,
        count(distinct subject) filter (outcome = 'failed') as failed
    from outcomes group by build
), asked as (
    select build, count(*) filter (not cached) as calls, coalesce(sum(cost), 0) as cost from llm_calls group by build
)
select r.recipe, r.run, r.due_at, r.ended_at, r.build, r.release, r.evaluated_at, r.tool_changes,
    json_array_length(r.tool_changes)::integer as n_changed_tools,
    coalesce(e.landed, 0) as landed, coalesce(e.waiting, 0) as waiting, coalesce(e.rejected, 0) as rejected,
    coalesce(e.failed, 0) as failed, coalesce(c.calls, 0) as calls, coalesce(c.cost, 0) as cost,
    r.build <> '' and r.build in (select build from scheduled_runs o where o.recipe = r.recipe and o.run < r.run) as is_repeated
from scheduled_runs r left join ended e on e.build = r.build left join asked c on c.build = r.build
where ? in ('', r.recipe) order by r.recipe, r.run

-- name: since
-- What a recipe has by now, and what of it is new since a moment.
with landed as (
    select distinct f.subject from latest_builds l join outcomes f on f.build = l.build
    where l.recipe = $1 and not l.is_trial and f.stage = 'land' and f.outcome = 'passed'
)
select count(*) filter (a.withdrawn_at is null) as accepted,
    count(*) filter (a.withdrawn_at is null and a.accepted_at > $2::timestamptz) as accepted_since,
    count(*) filter (a.withdrawn_at > $2::timestamptz) as withdrawn_since,
    (select count(*) from reviews v join review_requests q on q.subject = v.subject and q.kind = v.kind
        join builds b on b.key = q.build where b.recipe = $1 and v.reviewed_at > $2::timestamptz) as reviewed_since
from landed d join acceptances a on a.subject = d.subject

-- name: stale
-- Accepted samples of a recipe's other builds whose gold calls one of these tools, each a language and a name.
select count(distinct c.sample) as samples from gold_calls c
where c.recipe = ? and c.build <> ? and list_contains(?::varchar[], c.language || ' ' || c.tool)

-- name: reviewed
-- The runs that have made something, in order, with whether all that people were asked about it is answered; and the recipe of the build.
select r.recipe, r.run, r.build, r.release, b.body,
    not exists (select 1 from review_queue q where q.build = r.build and q.is_current and not q.is_answered)
    and not exists (select 1 from outcomes f where f.build = r.build and f.outcome = 'waiting'
        and f.subject not in (select subject from decisions)) as is_reviewed
from scheduled_runs r join builds b on b.key = r.build
where r.ended_at is not null qualify row_number() over (partition by r.recipe, r.build order by r.run) = 1 order by r.recipe, r.run

-- name: landed
-- The builds of a recipe's runs up to one that have landed samples.
select distinct f.build from scheduled_runs r join latest_builds l on l.recipe = r.recipe and l.run <= r.run
join outcomes f on f.build = l.build and f.stage = 'land' and f.outcome = 'passed'
join acceptances a on a.subject = f.subject and a.withdrawn_at is null
where r.recipe = ? and r.run = ? and not l.is_trial order by f.build

-- name: unevaluated
select r.recipe, r.run, r.release, b.body from scheduled_runs r join builds b on b.key = r.build
where r.release <> '' and r.evaluated_at is null order by r.recipe, r.run
