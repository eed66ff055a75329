-- name: made
-- The samples that were made after each template, and the kept path of it: the draft that all of them come of.
made as (
    select distinct b.build, b.sample, b.draft as path
    from build_samples b join drafts d on d.key = b.draft and d.type = 'GoalPath'
)

-- name: newest
-- What is left to readers, and read by one, is no doubt any more.
newest as (
    select subject, check_name, decision, reason, decision <> 'proved' and not (
        decision = 'unproved' and check_name in (select name from stages where is_left_to_readers)
        and bool_or(grade = 'judged') over (partition by subject)
    ) as is_doubted
    from (
        select v.subject, v.check_name, arg_max(v.decision, v.made_at) as decision, arg_max(v.grade, v.made_at) as grade,
            arg_max(v.reason, v.made_at) as reason
        from verdicts v where v.subject in (select sample from made) group by all
    )
)

-- name: samples
with @made
select distinct path, sample from made where list_contains(?::varchar[], path) order by all

-- name: corrected
with @made, @newest
select m.path, any_value(q.cause) as cause, any_value(q.subject) is null as is_new,
    coalesce(bool_or(n.decision <> 'proved'), false) as in_doubt,
    coalesce('path: ' || min(n.reason) filter (n.decision <> 'proved'), '') as reason
from made m join drafts d on d.key = m.path
left join newest n on n.subject = m.sample and n.check_name = 'path'
left join review_requests q on q.subject = m.path and q.kind = ?
where m.build = ? and json_array_length(d.body -> 'corrections') > 0
group by m.path order by m.path

-- name: only_path
with @made, @newest, doubtful as (
    select subject from newest where is_doubted group by subject
    having bool_and(check_name = 'path' and decision = 'unproved')
)
select s.key, s.body from samples s join doubtful d on d.subject = s.key where list_contains(?::varchar[], s.key)

-- name: decided
with @made, @newest, doubts as (
    select subject, bool_and(check_name = 'path' and decision = 'unproved') as only_path
    from newest where is_doubted group by subject
)
select distinct m.path, m.sample, d.decision, d.reviewer, d.reviewed_at, d.reasons
from decisions d join made m on m.path = d.subject left join doubts u on u.subject = m.sample
where d.kind = ? and (d.decision = 'reject'
    or exists (select 1 from standing_reviews v where v.subject = m.sample and v.kind = ?)
    or (u.only_path and not exists (select 1 from review_requests q where q.subject = m.sample and q.kind = ?)))
order by all
