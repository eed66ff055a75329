-- name: with_state
select p.*, a.grade, a.judged_by, a.build, case
    when a.subject is not null then if(a.withdrawn_at is null, 'landed', 'withdrawn')
    when exists (select 1 from outcomes o where o.subject = p.key and o.outcome = 'waiting') then 'waiting'
    when exists (select 1 from outcomes o where o.subject = p.key and o.outcome = 'rejected') then 'rejected'
    else 'other' end as state
from p left join acceptances a on a.subject = p.key

-- name: reasons
-- Why somebody turned down what they were not tested with.
select subject, reasons from standing_reviews r
where not exists (select 1 from gold_items g where g.subject = r.subject and g.kind = r.kind)

-- name: where_kind
s.kind = ?

-- name: where_language
s.language = ?

-- name: where_category
s.category = ?

-- name: where_tool
-- Of most samples the last calls are all there are: only the others are looked through.
(contains(s.gold::varchar, ?) or (coalesce(s.call_turns, 2) > 1 and contains(s.body::varchar, ?)))

-- name: where_grade
s.key in (select subject from acceptances where withdrawn_at is null and grade = ?)

-- name: where_check
s.key in (select subject from newest_verdicts where check_name = ? and decision <> 'proved')

-- name: where_build
s.key in (
    select sample from build_samples m join (select ? as asked) on m.build = asked
        or (asked = 'newest' and m.build in (select build from latest_builds))
)

-- name: where_reviewer
s.key in (select subject from standing_reviews where reviewer = ?)

-- name: where_release
s.key in (select subject from release_samples where ? in (release, release || ':' || split))

-- name: where_reason
s.key in (select subject from (@reasons) where list_contains(reasons, ?))

-- name: state_landed
s.key in (select subject from acceptances where withdrawn_at is null)

-- name: state_withdrawn
s.key in (select subject from acceptances where withdrawn_at is not null)

-- name: state_waiting
s.key in (select subject from outcomes where outcome = 'waiting') and s.key not in (select subject from acceptances)

-- name: state_rejected
s.key in (select subject from outcomes where outcome = 'rejected') and s.key not in (select subject from acceptances)

-- name: state_other
not (@state_landed)

-- name: choices
select * from (
    select 'kind' as field, kind as value, count(*) as samples from samples group by kind
    union all select 'language', language, count(*) from samples group by language
    union all select 'category', category, count(*) from samples group by category
    union all (
        select 'tool', tool, count(*) as samples
        from (select unnest(json_extract_string(gold, '$[*].tool')) as tool from samples)
        group by tool order by samples desc, tool limit 400
    )
    union all select 'grade', grade, count(*) from acceptances where withdrawn_at is null group by grade
    union all select 'check', check_name, count(*) from newest_verdicts where decision <> 'proved' group by check_name
    union all (
        select 'build', b.key, count(*) from builds b join build_samples m on m.build = b.key
        group by b.key, b.started_at order by b.started_at desc limit 400
    )
    union all select 'reviewer', reviewer, count(distinct subject) from standing_reviews group by reviewer
    union all select 'release', release, count(*) from release_samples group by release
    union all select 'release', release || ':' || split, count(*) from release_samples where split <> '' group by release, split
    union all select 'reason', reason, count(distinct subject)
        from (select subject, unnest(reasons) as reason from (@reasons)) group by reason
) where value <> '' order by field, samples desc, value

-- name: found
with p as (
    select key, kind, language, category, request, gold, call_turns, calls from samples s
    where @condition order by key limit ? offset ?
) @with_state order by p.key

-- name: counted
select count(*) as samples from samples s where @condition

-- name: spread
with asked as (
    select subject from review_requests
    union select subject from predictions where error_type <> ''
    union select subject from multi_step_runs where not success
)
select s.key from samples s left join asked a on a.subject = s.key
order by row_number() over (partition by s.kind, s.language order by a.subject is null, s.key), s.key limit ?

-- name: of_keys
with wanted as (select unnest(?::varchar[]) as key), p as (
    select key, kind, language, category, request, gold, call_turns, calls, body from samples where key in (from wanted)
), q as (@with_state), found as (
    select subject, 'check=' || check_name as facet from newest_verdicts
    where subject in (from wanted) and decision <> 'proved'
    union select sample, 'build=' || build from build_samples where sample in (from wanted)
    union select subject, 'reviewer=' || reviewer from standing_reviews where subject in (from wanted)
    union select subject, 'release=' || unnest([release, release || ':' || split])
    from release_samples where subject in (from wanted)
    union select subject, 'reason=' || unnest(reasons) from (@reasons) where subject in (from wanted)
    union select key, 'tool=' || unnest(json_extract_string(body, '$.turns[*].calls[*].tool')) from p
)
select q.* exclude (body), list_concat(
    ['kind=' || kind, 'language=' || language, 'category=' || category, 'state=' || state, 'grade=' || coalesce(grade, '')],
    coalesce((select list(facet order by facet) from found where subject = q.key and facet <> ''), [])
) as facets
from q order by q.key

-- name: neighbours
select
    (select max(key) from samples s where @condition and key < ?) as before,
    (select min(key) from samples s where @condition and key > ?) as after

-- name: sample
-- What is known of samples has in `of_sample` whose it is; a list of values (@places) reaches the tables beneath views, a query does not.
with p as (select *, key as of_sample from samples where key in (@places)) @with_state

-- name: tools
select s.key as of_sample, t.*, c.place > json_array_length(s.body, '$.candidates') as is_withheld
from samples s, unnest(
    list_concat(json_extract_string(s.body, '$.candidates[*]'), json_extract_string(s.body, '$.withheld[*]'))
) with ordinality as c(tool, place)
join tools t on t.key = c.tool where s.key in (@places) order by c.place

-- name: verdicts
select v.subject as of_sample, v.check_name, t.position, v.decision, v.grade, v.reason, v.evidence, v.open_arguments, v.model,
    v.version, v.score
from newest_verdicts v left join stages t on t.name = v.check_name where v.subject in (@places)
order by t.position, v.check_name

-- name: outcomes
select o.subject as of_sample, o.build, b.recipe, o.stage, o.outcome, o.reason_code, o.reason, o.decided_by, o.decided_who,
    o.carried_from
from outcomes o left join builds b on b.key = o.build left join stages t on t.name = o.stage
where o.subject in (@places) and (o.outcome <> 'passed' or o.stage = 'land') order by t.position, o.stage, o.build

-- name: reviews
select subject as of_sample, kind, decision, reviewer, reviewed_at, reasons, comment, seconds, result, round
from standing_reviews where subject in (@places) order by reviewed_at, kind, reviewer

-- name: ancestors
with recursive links as (
    select key, parents from samples
    union all select key, parents from drafts
    union all select tool, list(draft order by draft) from made_tools group by tool
), up as (
    select key as of_sample, key, 0 as distance from (select unnest([@places]) as key)
    union
    select up.of_sample, unnest(l.parents), up.distance + 1 from up join links l on l.key = up.key where up.distance < 32
)
select u.of_sample, u.key, u.distance, coalesce(s.parents, d.parents, []) as parents,
    coalesce(d.type, if(s.key is not null, 'Sample', if(t.key is not null, 'Tool', ''))) as type,
    coalesce(s.stage, d.stage, t.source, '') as stage, coalesce(s.model, d.model, '') as model,
    coalesce(s.prompt_version, d.prompt_version, '') as prompt_version, coalesce(s.request, t.name, '') as title, d.body
from (select of_sample, key, max(distance) as distance from up group by all) u
left join samples s on s.key = u.key left join drafts d on d.key = u.key left join tools t on t.key = u.key
order by u.distance, type, title, u.key

-- name: children
select parent as of_sample, key, kind, language, request, stage
from (select key, kind, language, request, stage, unnest(parents) as parent from samples where list_has_any(parents, [@places]))
where parent in (@places)
qualify row_number() over (partition by parent order by stage, kind, key) <= 50 order by stage, kind, key

-- name: releases
select r.subject as of_sample, r.release, n.created_at from release_samples r left join releases n on n.name = r.release
where r.subject in (@places) order by n.created_at, r.release

-- name: calls
select subject as of_sample, stage, model, count(*) as calls, count(*) filter (cached) as cached, sum(cost) as cost
from llm_calls where subject in (@places) group by all order by min(made_at), stage, model

-- name: answers
select * from (@evaluations.shown where i.sample in (@places))
qualify row_number() over (partition by of_sample order by is_right nulls last, release, candidate, turn, prediction) <= 60
order by is_right nulls last, release, candidate, turn, prediction
