-- name: chosen
select s.*, coalesce(r.split, '') as split from samples s join release_samples r on r.subject = s.key,
    (select ? as release, ?::varchar[] as kinds) asked
where r.release = asked.release and (asked.kinds = [] or list_contains(asked.kinds, s.kind))

-- name: samples
select key, kind, language, category, request, gold::varchar as gold, body::varchar as body, call_turns, calls,
    stage, parents, seed, model, prompt_version, planted, @canary as canary
from (@chosen) where split = @split order by key

-- name: tools
select key, name, category, language, source, description, parameters::varchar as parameters,
    returns::varchar as returns, constants::varchar as constants, plumbing,
    original::varchar as original
from tools t semi join release_tools r on r.tool = t.key and r.release = ? order by key

-- name: counted
select split, count(*) as samples from (@chosen) group by split order by split
