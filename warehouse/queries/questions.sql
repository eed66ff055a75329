-- name: count
select (select count(*) from review_requests) + (select count(*) from review_rounds) as questions

-- name: asked
-- `version` is the newest version of the task; `is_open`: nobody has answered that one yet.
select q.subject, q.kind, coalesce(max(n.version), 1) as version,
    list_concat(
        [any_value(q.cause || ': ' || q.reason)], coalesce(list(n.cause || ': ' || n.problem), [])
    ) as asked,
    not exists (
        select 1 from standing_reviews v where v.subject = q.subject and v.kind = q.kind
            and v.reviewed_at >= coalesce(max(n.made_at), max(q.requested_at))
    ) as is_open
from review_requests q left join review_rounds n on n.subject = q.subject and n.kind = q.kind
where list_contains(?::varchar[], q.subject)
group by q.subject, q.kind

-- name: worth
-- A table: the view reads what is about to change, and is read twice.
create temp table worth as
select p.subject, p.kind, p.version, p.priority, p.probability from review_priority p
join review_queue q on q.subject = p.subject and q.kind = p.kind and q.version = p.version
where q.pushed_at is null and (p.priority, p.probability) is distinct from (q.priority, q.expected)

-- name: requests
update review_requests set priority = w.priority, expected = w.probability from worth w
where w.version = 1 and w.subject = review_requests.subject and w.kind = review_requests.kind

-- name: rounds
update review_rounds set priority = w.priority, expected = w.probability from worth w
where w.version = review_rounds.version and w.subject = review_rounds.subject and w.kind = review_rounds.kind

-- name: answered
-- The sorts of each question that is decided, with what came of it.
select list(sort order by sort) as sorts, has_changed from question_sorts where has_changed is not null
group by subject, kind, version, has_changed order by subject, kind, version
