-- name: pool
-- What was drawn before stays in the pool, also where it was taken back since. What somebody has still to answer is left out, and
-- so is what gold items are made of: who has seen both could tell which is spoiled.
select p.subject, coalesce(a.build, '') as build, exists (
    select 1 from review_queue q where q.subject = p.subject and q.cause <> 'second look' and not q.is_answered
    union all
    select 1 from gold_items g where g.made_of = p.subject
) as is_out
from p left join acceptances a on a.subject = p.subject

-- name: still_accepted
(c.withdrawn_at is null or exists (
    select 1 from review_rounds n where n.subject = c.subject and n.cause = 'second look'
    union all
    select 1 from review_requests q where q.subject = c.subject and q.cause = 'second look'
))

-- name: of_all
with p as (select subject from acceptances c where @still_accepted) @pool

-- name: of_recipe
with p as (select subject from acceptances c where c.recipe = ? and @still_accepted) @pool

-- name: of_release
with p as (select subject from release_samples where release = ?) @pool

-- name: suspects
-- `place` is the number of the call turn among the sample's; for `asked_against` people were asked about it as a suspect before.
select p.subject, p.turn, p.n_candidates as candidates, p.n_failing as failing, p.errors, p.n_agreeing as agreeing, p.answer, p.calls, p.has_landed,
    s.kind, s.category, s.request, s.call_turns, coalesce(a.build, '') as build,
    if(p.calls is null, null, json_extract(s.body, '$.turns[' || p.turn || '].calls')) as gold,
    len(list_filter((s.body ->> '$.turns[*].kind')[1:p.turn + 1], lambda kind: kind = 'calls')) as place,
    coalesce(q.against, []) as asked_against, q.against is not null as asked_before
from suspects p join samples s on s.key = p.subject
left join acceptances a on a.subject = p.subject and a.withdrawn_at is null
left join (
    select subject, list(against) as against from review_queue where cause = 'suspect' group by subject
) q on q.subject = p.subject
where p.release = ?
order by p.n_agreeing / p.n_candidates desc, p.n_failing / p.n_candidates desc, p.subject
