-- name: answers
-- Where calls may be due, and only of runs that were scored to their end: an answer that was not has no error type yet.
select p.key, p.subject, p.turn, p.candidate, p.error_type
from predictions p join samples s on s.key = p.subject left join kinds k on k.name = s.kind
where p.release = ?
    and (coalesce(k.asked, 'call') <> 'conversation' or s.body ->> ('$.turns[' || p.turn || '].kind') = 'calls')
    and exists (
        select 1 from scores c where c.release = p.release and c.candidate = p.candidate and c.strategy = p.strategy
            and c.tools_shown = p.tools_shown and c.run = p.run and c.metric = 'invented' and c.judge = ''
    )
order by p.key

-- name: drawn
select a.prediction as key, coalesce(p.subject, '') as subject, coalesce(p.turn, 0) as turn, a.candidate, a.error_type
from audit_draws a left join predictions p on p.key = a.prediction where a.release = ? order by a.prediction

-- name: audited
select p.*, coalesce(a.error_type, p.error_type) as said
from predictions p left join audit_draws a on a.prediction = p.key where list_contains(?::varchar[], p.key)

-- name: suspects
-- Of each sample the first audit that nobody has looked into yet; the build that let it land has its checks.
with found as (
    select p.subject, p.turn, d.comment, d.reviewed_at
    from decisions d join predictions p on p.key = d.subject
    where d.kind = ? and d.decision = 'reject' and list_contains(d.reasons, ?)
), pending as (
    select f.* from found f where not exists (
        select 1 from standing_reviews v where v.subject = f.subject and v.kind = ? and v.reviewed_at > f.reviewed_at
    )
)
select n.subject, arg_min(n.turn, (n.reviewed_at, n.turn)) as turn, arg_min(n.comment, (n.reviewed_at, n.turn)) as comment,
    coalesce(any_value(a.build), '') as build
from pending n left join acceptances a on a.subject = n.subject group by n.subject order by n.subject
