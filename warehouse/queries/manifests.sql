-- name: sample_hash
-- The hashes of rows, over the columns that say what the release holds; a column that comes later changes none of them.
md5(concat_ws(
    chr(31), s.key, s.kind, s.language, s.category, s.request, s.gold::varchar, s.body::varchar
))

-- name: tool_hash
md5(concat_ws(
    chr(31), t.key, t.name, t.category, t.language, t.source, t.description, t.parameters::varchar,
    coalesce(t.returns::varchar, ''), coalesce(t.constants::varchar, '')
))

-- name: lines
-- The manifest's lines of the release ?, each with the hash that was taken when it was made.
select concat_ws(' ', 'sample', subject, coalesce(split, ''), coalesce(row_hash, '')) as line
from release_samples where release = ?
union all
select concat_ws(' ', 'tool', tool, '', coalesce(row_hash, '')) from release_tools where release = ?

-- name: manifest_hash
select md5(string_agg(line, chr(10) order by line)) as hash from (@lines)

-- name: take_samples
-- Takes the rows of `chosen` (key, split, split_group) and of the tools that they name into the manifest of the release ?.
insert into release_samples
select ?, s.key, c.split, c.split_group, @sample_hash from chosen c join samples s on s.key = c.key

-- name: take_tools
insert into release_tools
with named as (
    select distinct unnest(
        json_extract_string(s.body, '$.candidates[*]') || json_extract_string(s.body, '$.withheld[*]')
    ) as tool
    from samples s semi join chosen c on c.key = s.key
)
select ?, n.tool, @tool_hash from named n left join tools t on t.key = n.tool

-- name: changed_samples
select r.subject as key, if(s.key is null, 'missing', 'changed') as change
from release_samples r left join samples s on s.key = r.subject
where r.release = ? and r.row_hash is distinct from if(s.key is null, null, @sample_hash) order by key

-- name: changed_tools
select r.tool as key, if(t.key is null, 'missing', 'changed') as change
from release_tools r left join tools t on t.key = r.tool
where r.release = ? and r.row_hash is distinct from if(t.key is null, null, @tool_hash) order by key

-- name: keys
select list(subject order by subject, split) as keys, list(coalesce(split, '') order by subject, split) as splits
from release_samples where release = ?

-- name: chosen
create temp table chosen as
select unnest(?::varchar[]) as key, unnest(?::varchar[]) as split, unnest(?::varchar[]) as split_group

-- name: duplicates
insert into release_duplicates
select ?, unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::double[])
