-- name: came_back
select 1 from review_rounds where pushed_at is null
union all
select 1 from review_requests q join samples s on s.key = q.subject where q.pushed_at is null and s.stage = 'review'
union all
select 1 from review_requests q join decisions d on d.result = q.subject and d.kind = q.kind where q.pushed_at is null
limit 1

-- name: unseen
-- A sample that was imported as a release has no build, whose checks its edit could go through; it is kept as it is.
select s.key, s.body, min(q.build) as build
from decisions d join samples s on s.key = d.result join review_requests q on q.subject = d.subject and q.kind = d.kind
join builds b on b.key = q.build
where list_contains(?::varchar[], d.kind) and d.decision = 'edit'
    and not exists (select 1 from verdicts v where v.subject = s.key) and q.build in (select key from builds)
group by all order by s.key

-- name: against
with stopped as (
    select f.build, f.subject, any_value(d.reviewer) as reviewer, arg_max(f.reason, f.made_at) as reason
    from decisions d join outcomes f on f.subject = d.result
    where list_contains(?::varchar[], d.kind) and d.decision = 'edit' and f.outcome in ('waiting', 'failed')
    group by f.build, f.subject
), undecided as (@resolutions.undecided_edits)
select build, subject, 'As edited by ' || reviewer || ': ' || reason as reason from stopped
union all
select min(f.build), u.subject, any_value('As edited by ' || u.reviewer || ': ' || u.reason)
from undecided u join decisions d on d.result = u.subject and d.decision = 'edit'
join outcomes f on f.subject = u.subject
where u.subject not in (select subject from stopped) group by u.subject

-- name: second_person
-- An edit that is in doubt lands when another person stands for it: the word of whoever made it is not the second one.
update review_requests set reviewers = 2
where cause = ? and list_contains(?::varchar[], kind) and reviewers = 1 and exists (
    select 1 from standing_reviews e where e.result = review_requests.subject and e.decision = 'edit'
) and exists (
    select 1 from review_words w where w.subject = review_requests.subject and w.kind = review_requests.kind
) and not exists (
    select 1 from review_words w where w.subject = review_requests.subject and w.kind = review_requests.kind
        and w.reviewer not in (
            select e.reviewer from standing_reviews e where e.result = w.subject and e.decision = 'edit'
        )
)

-- name: under_review
-- Somebody else changed it since, or its speaker answered the same task again in another annotation.
select key, task_id, annotation_id, reviewer <> first_value(reviewer) over (
    partition by annotation_id order by reviewed_at desc, key
) or annotation_id <> first_value(annotation_id) over (
    partition by task_id, reviewer order by reviewed_at desc, annotation_id desc
) as is_replaced
from reviews
where server = ? and withdrawn_at is null and annotation_id > 0 and list_contains(?::bigint[], task_id)

-- name: withdraw
update reviews set withdrawn_at = now() where list_contains(?::varchar[], key)

-- name: withdraw_carried
-- What was stated about a path stands as a review about each sample of it, without an annotation of its own.
update reviews set withdrawn_at = now() from reviews p
where reviews.kind = ? and reviews.annotation_id = 0 and reviews.withdrawn_at is null and p.kind = reviews.kind
    and p.withdrawn_at is not null and p.reviewer = reviews.reviewer and p.reviewed_at = reviews.reviewed_at
    and reviews.carried_from = p.subject

-- name: undecided
-- The outcomes that tell of a decision which is no more, and why people had been asked. What is stated of dialogue acts decides
-- nothing about a doubt, and an edited sample lands, or does not, by the decision about what it was edited from.
with asked as (
    select subject, coalesce(min(cause) filter (cause = 'doubtful'), min(cause)) as cause,
        min(reason) filter (cause = 'doubtful') as reason
    from review_requests group by subject
)
select f.build, f.stage, f.subject, coalesce(q.cause, 'spot check') as cause, coalesce(q.reason, '') as asked,
    s.key is not null as is_sample
from outcomes f join stages t on t.name = f.stage left join asked q on q.subject = f.subject
left join samples s on s.key = f.subject
where f.decided_by = 'person'
    and not exists (
        select 1 from decisions d where d.subject = f.subject and list_contains(?::varchar[], d.kind)
            and (d.kind <> ? or d.decision = 'reject' or coalesce(q.cause, '') <> 'doubtful')
    )
    and not (f.stage = 'land' and coalesce(s.stage, '') = 'review')
order by f.build, f.subject, t.position

-- name: accepted
select * from acceptances where list_contains(?::varchar[], subject)
