-- name: answers
-- $1 is a release, $2 are candidates with their strategies, $3 samples. What a judge finds to mean the same is neither right nor wrong.
select
    p.subject, p.turn, p.candidate || '~' || p.strategy as given_by, p.error_type = '' as is_right, p.calls, p.text, p.reasoning
from predictions p
where p.release = $1 and list_contains($2::varchar[], p.candidate || '~' || p.strategy) and list_contains($3::varchar[], p.subject)
    and p.error_type is not null
    and (p.error_type = '' or not exists (from judge_verdicts v where v.prediction = p.key and v.agree))
order by p.subject, p.turn, p.candidate, p.strategy, p.tools_shown, p.run

-- name: runs
-- `wrong_turns` are the turns of the run with a call that no gold call is like.
select
    r.subject, r.candidate || '~' || r.strategy as given_by, r.success, r.messages, r.opening, r.end_reached, r.completeness, r.correctness,
    coalesce((select list(distinct e.turn) from call_errors e where e.run = r.key), []) as wrong_turns
from multi_step_runs r
where r.release = $1 and list_contains($2::varchar[], r.candidate || '~' || r.strategy) and list_contains($3::varchar[], r.subject)
order by r.subject, r.candidate, r.strategy, r.mode, r.judge, r.run

-- name: pass_rates
select sample, avg(is_passed::integer) as pass_rate from sample_results
where release = $1 and list_contains($2::varchar[], candidate || '~' || strategy) and list_contains($3::varchar[], sample)
group by sample

-- name: corrected
select d.result as subject, s.body from decisions d join samples s on s.key = d.subject
where d.decision = 'edit' and list_contains($1::varchar[], d.result) order by d.result, d.subject
