-- Of how much of what was drawn at random from the accepted samples people say that it is usable as it is: of each recipe, and
-- of each release, whose words count where they were said after it was frozen. Answered is what as many people as were asked
-- have decided; an edit that could not be used and came back is still the same question. `usable_share` lies between `low` and
-- `high` with 95 % confidence (Wilson).
create or replace view usable_share as
with asked as (
    select subject, kind, cause, requested_at, 0 as round, build from review_requests where kind = 'sample_review'
    union all
    select n.subject, n.kind, n.cause, n.made_at, row_number() over (partition by n.subject, n.kind order by n.made_at), q.build
    from review_rounds n left join review_requests q using (subject, kind) where n.kind = 'sample_review'
), questions as (
    select a.*, coalesce(b.recipe, c.recipe, '') as recipe,
        coalesce(lead(round) over (partition by subject, kind order by round), 2147483647) as until
    from (select * from asked where cause <> 'returned edit') a
    left join builds b on b.key = a.build
    left join (select subject, recipe from acceptances) c using (subject)
), words as (
    select q.subject, q.kind, q.round as question, w.decision, w.reviewed_at, w.round,
        coalesce(r.reviewers, 1) as reviewers, w.spoke_at, w.reviewer,
        count(*) over (partition by q.subject, q.kind, q.round, w.round) as speakers,
        count(*) over (partition by q.subject, q.kind, q.round, w.round, w.decision, w.result) as voices
    from questions q
    join review_words w on w.subject = q.subject and w.kind = q.kind and w.round >= q.round and w.round < q.until
    left join review_requests r on r.subject = q.subject and r.kind = q.kind
    where q.cause in ('spot check', 'second look')
), decided as (
    select * from words where reviewers = 1 or (speakers >= reviewers and 2 * voices > speakers)
    qualify row_number() over (partition by subject, kind, question order by round desc, spoke_at, reviewer) = 1
), drawn as (
    select 'recipe' as scope, q.recipe as name, q.cause, q.subject, d.decision
    from questions q left join decided d on d.subject = q.subject and d.kind = q.kind and d.question = q.round
    where q.cause in ('spot check', 'second look') and q.recipe <> ''
    union all
    select 'release', r.name, q.cause, q.subject, d.decision
    from releases r join release_samples m on m.release = r.name
    join questions q on q.subject = m.subject and q.cause in ('spot check', 'second look')
    left join decided d on d.subject = q.subject and d.kind = q.kind and d.question = q.round
    where d.reviewed_at is null or d.reviewed_at >= r.created_at
), counted as (
    select scope, name, cause, count(*) as n_asked, count(decision) as n_answered, count(*) filter (decision = 'accept') as n_usable
    from drawn group by all
), bounded as (
    select *, share_interval(n_usable, n_answered) as bounds from counted
)
select scope, name, cause, n_asked, n_answered, n_usable, n_usable / nullif(n_answered, 0) as usable_share, bounds.low as low, bounds.high as high
from bounded order by scope, name, cause;
