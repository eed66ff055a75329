-- name: held
select s.body from gold_items g join samples s on s.key = g.subject where g.kind = ?

-- name: counts
with asked as (
    select q.subject, q.cause from review_requests q where q.kind = $1 and q.build = $2
    union all
    select n.subject, n.cause from review_rounds n join review_requests q using (subject, kind)
    where n.kind = $1 and q.build = $2 and n.cause <> 'returned edit'
)
select count(*) filter (a.cause <> 'gold item') as questions, count(*) filter (g.expected = 'accept') as good,
    count(*) filter (g.expected = 'reject') as spoiled
from asked a left join gold_items g on g.subject = a.subject and g.kind = $1

-- name: originals
-- What landed without people, and people either accepted or were never asked about.
select a.subject as key, coalesce(d.decision = 'accept', false) as is_vouched
from acceptances a
join outcomes f on f.build = ? and f.stage = 'land' and f.outcome = 'passed' and f.subject = a.subject
left join review_requests q on q.subject = a.subject and q.kind = ?
left join decisions d on d.subject = q.subject and d.kind = q.kind
where a.withdrawn_at is null and a.grade <> 'vouched' and (q.subject is null or d.decision = 'accept')
    and not exists (select 1 from gold_items g where g.made_of = a.subject)

-- name: bodies
select s.key, s.body, coalesce((
    select arg_max(v.evidence, v.made_at) from verdicts v where v.subject = s.key and v.check_name = 'grounding'
), '[]'::json) as evidence
from samples s where list_contains(?::varchar[], s.key)
