-- name: reviewed
select server, annotation_id, max(reviewed_at) as moment from reviews group by server, annotation_id

-- name: returned
select subject, kind, version, reviewer, made_at from review_rounds

-- name: pushed_lately
select distinct t.kind, t.subject, t.version from task_states t join review_queue q using (kind, subject, version)
where t.server = ? and t.kind = ? and t.deleted_at is null and q.pushed_at > coalesce(?::timestamptz, '-infinity')

-- name: known
select * from task_states where server = ? and kind = ?

-- name: tasks
select task_id from task_states where server = ? and kind = ? and deleted_at is null

-- name: deleted
update task_states set deleted_at = now() where server = $server and list_contains($gone::bigint[], task_id)

-- name: open
t.server = $server and list_contains($gone::bigint[], t.task_id) and exists (
    select 1 from review_queue u
    where u.subject = t.subject and u.kind = t.kind and u.version = t.version and not u.is_answered)

-- name: request_anew
update review_requests set pushed_at = null, server = null from task_states t
where @open and t.version = 1 and t.subject = review_requests.subject and t.kind = review_requests.kind

-- name: round_anew
update review_rounds set pushed_at = null, server = null from task_states t
where @open and t.version = review_rounds.version and t.subject = review_rounds.subject and t.kind = review_rounds.kind

-- name: pushed
select distinct subject, version from task_states where server = ? and kind = ?

-- name: answer
update @table set answer = a.answer from (select unnest(?::varchar[]) as id, unnest(?::varchar[]) as answer) a
where a.id = @table.@key

-- name: unanswered_reviews
select r.key as id, s.body from reviews r join samples s on s.key = r.result
where r.decision = 'edit' and r.answer is null

-- name: unanswered_gold_items
select g.subject as id, s.body from gold_items g join samples s on s.key = g.made_of where g.answer is null

-- name: readings
select subject, readings from newest_verdicts where check_name = 'reading' and readings <> '[]'
    and subject in (select unnest(?::varchar[]))
