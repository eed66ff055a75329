-- name: to_push
select * from review_queue where kind = ? and is_current and not is_answered and (pushed_at is null or server <> ? or ?)
order by priority desc, build, category, requested_at, subject, version

-- name: there
-- The kinds of which tasks stand there: their screens follow a new version or another language, also where nothing waits.
select distinct kind from task_states where server = ? and deleted_at is null

-- name: one_more
update review_requests set reviewers = u.n_speakers + 1
from unsettled_reviews u where review_requests.subject = u.subject and review_requests.kind = u.kind

-- name: more_wanted
select q.*, arg_max(t.task_id, t.version) as task_id
from review_requests q join task_states t on t.subject = q.subject and t.kind = q.kind and t.server = ? and t.deleted_at is null
where q.overlap < q.reviewers and q.pushed_at is not null
group by all

-- name: verdicts
select subject, check_name, arg_max(decision, made_at) as decision, arg_max(score, made_at) as score,
    arg_max(reason, made_at) as reason, arg_max(evidence, made_at) as evidence,
    arg_max(doubts, made_at) as doubts, arg_max(readings, made_at) as readings, arg_max(version, made_at) as version
from verdicts where list_contains(?::varchar[], subject) group by subject, check_name order by check_name

-- name: editors
select result, arg_max(reviewer, reviewed_at) as reviewer from standing_reviews
where decision = 'edit' and list_contains(?::varchar[], result) group by result
