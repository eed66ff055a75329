-- All that people are or were asked, each version of a task a row. `n_speakers` have answered it; `is_answered`: enough have, or a
-- later version took its place (each edit that came back stays for who typed it); `is_current`: somebody still wants to know. A sample that no recipe's newest build has any more
-- is nobody's question, except where it has landed and is asked about for its own sake; an edit has its seat through its parent.
create or replace view review_queue as
with asked as (
    select subject, kind, 1 as version, cause, reason, '' as request, '' as calls, '' as problem, '' as reviewer, build, reviewers as n_reviewers,
        overlap as n_overlap, priority, expected, requested_at, pushed_at, server, against, cause as first_cause
    from review_requests
    union all
    select n.subject, n.kind, n.version, n.cause, coalesce(q.reason, ''), n.request, n.calls, n.problem, n.reviewer,
        coalesce(q.build, ''), coalesce(q.reviewers, 1), coalesce(q.overlap, 1), n.priority, n.expected, n.made_at, n.pushed_at, n.server,
        n.against, coalesce(q.cause, '')
    from review_rounds n left join review_requests q on q.subject = n.subject and q.kind = n.kind
), spoken as (
    select a.subject, a.kind, a.version, count(distinct v.reviewer) as n_speakers
    from asked a join standing_reviews v on v.subject = a.subject and v.kind = a.kind
    where a.version = 1 or v.reviewed_at > a.requested_at group by all
)
select
    a.*, coalesce(t.category, s.category, '') as category, coalesce(k.n_speakers, 0) as n_speakers,
    coalesce(k.n_speakers, 0) >= a.n_reviewers or exists (
        select 1 from review_rounds n where n.subject = a.subject and n.kind = a.kind and n.version > a.version
            and (a.version = 1 or n.cause <> 'returned edit')
    ) as is_answered,
    a.version > 1 or a.cause not in ('doubtful', 'spot check') or t.key is not null or s.stage = 'review' or exists (
        select 1 from outcomes f join latest_builds l on l.build = f.build where f.subject = a.subject
    ) as is_current
from asked a
left join spoken k using (subject, kind, version)
left join (select key, category, stage from samples) s on s.key = a.subject
left join tools t on t.key = a.subject
left join (select key from drafts) d on d.key = a.subject
left join (select key from predictions) p on p.key = a.subject
left join (select distinct key from findings) f on f.key = a.subject
where coalesce(s.key, t.key, d.key, p.key, f.key) is not null;
