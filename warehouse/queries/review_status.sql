-- name: counts
count(*) as tasks, count(*) filter (pushed_at is null and is_current and not is_answered) as to_push,
count(*) filter (pushed_at is not null and not is_answered) as with_people,
count(*) filter (is_answered) as reviewed,
count(*) filter (pushed_at is null and not is_current and not is_answered) as outdated

-- name: queue_of_kind
select cause, @counts from review_queue where kind = ? group by cause order by cause

-- name: reviewers
select reviewer, count(*) as reviews, count(*) filter (decision = 'accept') as accepted,
    count(*) filter (decision = 'edit') as edited, count(*) filter (decision = 'reject') as rejected,
    round(median(seconds), 1) as median_seconds
from standing_reviews where kind = ? and annotation_id > 0 group by reviewer order by reviews desc, reviewer

-- name: queue
-- `skipped` and `drafts` are tasks that nobody has answered yet, but somebody skipped or began.
with states as (
    select subject, kind, version, server, skipped, drafts from task_states where deleted_at is null
)
select kind, cause, @counts,
    count(*) filter (not is_answered and s.skipped > 0) as skipped,
    count(*) filter (not is_answered and s.drafts > 0) as drafts
from review_queue q left join states s using (subject, kind, version, server)
group by kind, cause order by kind, cause

-- name: work_left
-- What people have still to answer: as many answers to a question as are wanted and not given.
with paces as (
    select kind, median(seconds) as seconds from standing_reviews where annotation_id > 0 and seconds > 0 group by kind
)
select q.kind, count(*) as questions, sum(greatest(1, q.n_reviewers - q.n_speakers))::bigint as answers,
    round(coalesce(any_value(p.seconds), ?), 1) as median_seconds, any_value(p.seconds) is null as is_assumed,
    round(answers * median_seconds / 3600, 3) as hours
from review_queue q left join paces p on p.kind = q.kind
where not q.is_answered and (q.is_current or q.pushed_at is not null)
group by q.kind order by q.kind

-- name: unsettled
-- On what nothing counts yet: people have said different things, also after one more was asked (the view unsettled_reviews has what
-- nobody more was asked about), or an edit is in doubt, and only those who made it have spoken. `others` can be asked next.
with newest as (
    select subject, kind, max(round) as round from review_words group by all
), said as (
    select w.subject, w.kind, w.round, list(w.reviewer order by w.reviewer) as said_by,
        list(distinct w.decision order by w.decision) as decisions
    from review_words w join newest using (subject, kind, round)
    where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
    group by w.subject, w.kind, w.round having count(distinct w.answer) > 1
), reviewers as (
    select kind, list(distinct reviewer) as everybody from standing_reviews where annotation_id > 0 group by kind
), unsettled as (
    select s.kind, s.subject, s.decisions, s.said_by from said s
    where not exists (
        select 1 from decisions d where d.subject = s.subject and d.kind = s.kind and d.round = s.round
    )
    union all
    select q.kind, q.subject, ['edit'], list(distinct e.reviewer order by e.reviewer)
    from review_queue q join standing_reviews e on e.result = q.subject and e.decision = 'edit'
    where q.cause = ? and q.is_current and not q.is_answered
        and not exists (select 1 from said s where s.subject = q.subject and s.kind = q.kind)
    group by q.kind, q.subject
)
select u.*, list_sort(list_filter(coalesce(r.everybody, []), lambda one: not list_contains(u.said_by, one))) as others
from unsettled u left join reviewers r on r.kind = u.kind
order by u.kind, u.subject

-- name: differing
-- What people answered differently in the newest round, whatever the recipe's `reviewers` is; `counts` is the decision that counts, null
-- where none does. `shared` is how many things two or more have answered at all.
with newest as (
    select w.*, count(*) over same as speakers from review_words w
    where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind) and w.kind <> 'training'
        and w.annotation_id > 0
    window same as (partition by w.subject, w.kind, w.round)
    qualify w.round = max(w.round) over (partition by w.subject, w.kind)
), shared as (
    select kind, subject, round, count(distinct answer) as answers,
        string_agg(reviewer || ': ' || decision, ', ' order by spoke_at, reviewer) as said
    from newest where speakers > 1 group by kind, subject, round
)
select s.kind, s.subject, s.said, d.decision as counts, (select count(*) from shared) as shared
from shared s left join decisions d on d.subject = s.subject and d.kind = s.kind
where s.answers > 1 order by s.kind, s.subject

-- name: next
-- What has been pushed stands where it was pushed to; of the others it is known where they would.
with places as (
    select q.* exclude (priority), if(q.pushed_at is null, coalesce(p.priority, q.priority), round(q.priority, 4)) as priority
    from review_queue q left join review_priority p using (subject, kind, version)
    where q.is_current and not q.is_answered
)
select kind, subject, version, cause, category, priority, pushed_at is not null as is_pushed,
    if(version > 1, problem, reason) as reason
from places
qualify row_number() over (partition by kind order by priority desc, build, category, requested_at, subject, version) <= ?
order by kind, priority desc, build, category, requested_at, subject, version

-- name: words
-- The words about each thing of the newest round in which two or more spoke. Who was asked only because the others did not
-- agree does not count: such words come only where others differ, and would bend the figures. So of each thing only as many
-- words count, the first ones, as the recipe asks for, or as the least that was answered in full has. Edits of a thing that say
-- something else have labels of their own ("edit 1", "edit 2"), the same for all things: so chance is not made small by words that
-- nobody else could say.
with said as (
    select w.kind, w.subject, w.reviewer, w.reasons, w.round,
        w.decision || if(w.decision <> 'edit', '', ' ' || dense_rank() over (
            partition by w.subject, w.kind, w.round, w.decision order by w.answer
        )) as label, coalesce(q.cause, '') as cause,
        coalesce(q.reviewers, 1) as reviewers, coalesce(
            try_cast(b.body ->> '$.review.reviewers' as integer),
            try_cast(json_fields(b.body -> '$.review.reviewers')[q.cause] ->> '$' as integer), 1
        ) as by_rule,
        count(*) over same as speakers, row_number() over (same order by w.spoke_at, w.reviewer) as place
    from review_words w
    left join review_requests q on q.subject = w.subject and q.kind = w.kind
    left join builds b on b.key = q.build
    where w.annotation_id > 0
        and not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
    window same as (partition by w.subject, w.kind, w.round)
), several as (
    select * from said where speakers > 1
    qualify round = max(round) over (partition by subject, kind)
), counted as (
    select *, least(greatest(by_rule, 2), coalesce(
        min(speakers) filter (speakers >= reviewers) over (partition by kind, cause), 9
    )) as wanted
    from several
)
select kind, subject, reviewer, label, reasons from counted where place <= wanted order by kind, subject, place
