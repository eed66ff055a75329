-- Every ancestor of every sample, one row each: distance 0 is the sample, then its draft call, its parameter choice,
-- its assignment, the tool; an edited sample has the one it was edited from. A tool that was made has its own drafts
-- behind it, an edited one the tool that it was edited from.
create or replace view lineage as
with recursive tool_parents as (
    select tool, list(distinct parent order by parent) as parents from (
        select tool, draft as parent from made_tools
        union all
        select result, subject from reviews where kind = 'tool_review' and result is not null
    ) group by tool
), stored as (
    select key, 'Sample' as type, stage, parents, model, prompt_version from samples
    union all
    select key, type, stage, parents, model, prompt_version from drafts
    union all
    select t.key, 'Tool', t.source, coalesce(p.parents, []::varchar[]), '', ''
    from tools t left join tool_parents p on p.tool = t.key
), made as materialized ( -- numbers are walked far quicker than keys
    select row_number() over () as id, * from (
        from stored
        union all
        select distinct parent, null, null, [], null, null from (select unnest(parents) as parent from stored) u
        anti join stored k on k.key = u.parent
    )
), steps as materialized (
    select c.id as child, p.id as parent from (select id, unnest(parents) as parent from made) c join made p on p.key = c.parent
), ancestors as (
    select id as sample, id as ancestor, 0 as distance from made where type = 'Sample'
    union
    select a.sample, s.parent, a.distance + 1 from ancestors a join steps s on s.child = a.ancestor where a.distance < 32
)
select s.key as sample, a.distance, m.key as ancestor, m.type, m.stage, m.model, m.prompt_version
from ancestors a join made s on s.id = a.sample join made m on m.id = a.ancestor;
