-- name: builds
select l.build, b.body from latest_builds l join builds b on b.key = l.build order by l.started_at desc, l.build

-- name: items
select g.subject, s.language, s.kind as sample_kind from gold_items g join samples s on s.key = g.subject
where g.kind = ? order by g.made_at, g.subject limit ?

-- name: answers
select a.reviewer, a.subject, s.request, a.decision, a.is_right, a.defect, s.body
from gold_answers a join samples s on s.key = a.made_of
where a.kind = ? and (? = '' or a.reviewer = ?) order by a.reviewer, a.reviewed_at, a.subject
