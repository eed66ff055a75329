-- name: asked
-- A call is about a draft, about a sample, or about what comes between them; a draft has the kind of what was made of it.
with kinds as (
    select key as subject, kind from samples
    union all
    select b.draft, any_value(s.kind) from build_samples b join samples s on s.key = b.sample group by b.draft
    union all
    select d.key, d.body ->> 'kind' from drafts d
    where d.body ->> 'kind' is not null and d.key not in (select draft from build_samples)
)
select c.stage, coalesce(k.kind, '') as kind, count(*)::int as calls, sum(c.prompt_tokens)::int as prompt_tokens,
    sum(c.completion_tokens)::int as reply_tokens, sum(c.cost)::double as dollars
from llm_calls c left join (select subject, any_value(kind) as kind from kinds group by subject) k on k.subject = c.subject
where not c.cached group by all order by c.stage

-- name: earlier
select b.key, b.body, sum(c.n_made)::int as made, sum(c.n_landed)::int as accepted,
    (select sum(p.n_requests) from costs p where p.build = b.key) as calls, (select sum(p.cost) from costs p where p.build = b.key) as cost
from builds b join composition c on c.build = b.key
where b.recipe = ? and b.finished_at is not null
group by b.key, b.body, b.finished_at order by b.finished_at desc

-- name: paces
select model, sum(latency)::double as seconds, (sum(completion_tokens) + sum(prompt_tokens) / ?)::double as work
from llm_calls where list_contains(?::varchar[], model) and not cached and error = '' group by model
having sum(latency) > 0 and sum(completion_tokens) + sum(prompt_tokens) > 0

-- name: measured
-- The newest build that measured each reader.
select t.reader, arg_max(t.build, b.started_at) as build from reader_trust t join builds b on b.key = t.build
where list_contains(?::varchar[], t.reader) and t.n_planted > 0 group by t.reader order by t.reader
