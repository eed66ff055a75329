-- name: paths
select coalesce(domain, 'Total') as domain, sum(samples)::int as samples,
    sum(steps * samples) / sum(samples) as steps, sum(calls * samples) / sum(samples) as calls
from path_statistics where build = ? group by grouping sets ((domain), ())
having count(domain) > 0 order by grouping(domain), domain

-- name: conversations
select s.body from samples s join outcomes f on f.subject = s.key join kinds k on k.name = s.kind
where f.build = ? and f.stage = 'land' and f.outcome = 'passed' and k.has_acts

-- name: spent
select count(*) filter (not cached)::int as calls, count(*) filter (cached)::int as known,
    coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint as tokens, coalesce(sum(cost), 0)::double as cost
from llm_calls where build = ?

-- name: composition
select kind, sum(made)::int as made, sum(landed)::int as landed, sum(proved)::int as proved,
    sum(judged)::int as judged, sum(waiting)::int as waiting, sum(tools)::int as tools
from composition where build = ? group by kind

-- name: failures
select stage, records, reason from rejections where build = ? and outcome = 'failed' order by position, records desc
