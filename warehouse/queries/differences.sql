-- name: both
with older as (
    select s.key, s.kind, s.parents, coalesce(r.split, '') as split
    from release_samples r join samples s on s.key = r.subject where r.release = ?
), newer as (
    select s.key, s.kind, s.parents, coalesce(r.split, '') as split
    from release_samples r join samples s on s.key = r.subject where r.release = ?
), gone as (
    select * from older anti join newer using (key)
), come as (
    select * from newer anti join older using (key)
)

-- name: pairs
-- A sample that was made of one that is gone (an edit), else the next one of the same kind and the same parents.
@both
, edits as (
    select g.key as old, c.key as new from gone g join come c on list_contains(c.parents, g.key)
    qualify row_number() over (partition by g.key order by c.key) = 1
        and row_number() over (partition by c.key order by g.key) = 1
), numbered as (
    select key, kind, parents, false as is_new, row_number() over (partition by kind, parents order by key) as number
    from gone where key not in (select old from edits) and len(parents) > 0
    union all
    select key, kind, parents, true, row_number() over (partition by kind, parents order by key)
    from come where key not in (select new from edits) and len(parents) > 0
)
select old, new, old as place from edits union all
select o.key, n.key, o.key from numbered o join numbered n using (kind, parents, number) where not o.is_new and n.is_new
order by place

-- name: alone
@both
select key, kind, false as is_new from gone union all select key, kind, true from come order by key

-- name: kept
@both
select kind, count(*) from older semi join newer using (key) group by kind

-- name: moved
@both
select key, o.split, n.split from older o join newer n using (key)
where o.split <> '' and n.split <> '' and o.split <> n.split order by key

-- name: changed
-- What is compared of a sample is one JSON object.
select p.old, p.new, n.kind, json_object(
    'kind', o.kind, 'language', o.language, 'category', o.category,
    'split', coalesce(ro.split, ''), 'request', o.request, 'gold', o.gold,
    'turns', o.body -> '$.turns', 'candidates', o.body -> '$.candidates',
    'withheld', o.body -> '$.withheld', 'facts', coalesce(o.body -> '$.facts', o.body -> '$.tags'),
    'system_message', coalesce(o.body ->> '$.system_message', ''), 'model', o.model,
    'prompt_version', o.prompt_version
), json_object(
    'kind', n.kind, 'language', n.language, 'category', n.category,
    'split', coalesce(rn.split, ''), 'request', n.request, 'gold', n.gold,
    'turns', n.body -> '$.turns', 'candidates', n.body -> '$.candidates',
    'withheld', n.body -> '$.withheld', 'facts', coalesce(n.body -> '$.facts', n.body -> '$.tags'),
    'system_message', coalesce(n.body ->> '$.system_message', ''), 'model', n.model,
    'prompt_version', n.prompt_version
)
from (select unnest(?::varchar[]) as old, unnest(?::varchar[]) as new) p
    join samples o on o.key = p.old join samples n on n.key = p.new
    join release_samples ro on ro.subject = p.old and ro.release = ?
    join release_samples rn on rn.subject = p.new and rn.release = ?
order by p.old
