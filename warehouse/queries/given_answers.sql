-- name: answers
-- $1 is a release, $2 are candidates with their strategies, $3 samples. What a judge finds to mean the same is neither right nor wrong.
select
    p.subject, p.turn, p.candidate || '~' || p.strategy as given_by, p.error_type = '' as is_right, p.calls, p.text, p.reasoning
from predictions p
where p.release = $1 and list_contains($2::varchar[], p.candidate || '~' || p.strategy) and list_contains($3::varchar[], p.subject)
    and p.error_type is not null
    and (p.error_type = '' or not exists (from judge_verdicts v where v.prediction = p.key and v.agree))
order by p.subject, p.turn, p.candidate, p.strategy, p.tools_shown, p.run

-- name: pass_rates
select sample, avg(passed::integer) as pass_rate from sample_results
where release = $1 and list_contains($2::varchar[], candidate || '~' || strategy) and list_contains($3::varchar[], sample)
group by sample

-- name: corrected
select d.result as subject, s.body from decisions d join samples s on s.key = d.subject
where d.decision = 'edit' and list_contains($1::varchar[], d.result) order by d.result, d.subject
