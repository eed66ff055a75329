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
), made as (
    select key, 'Sample' as type, stage, parents, model, prompt_version from samples
    union all
    select key, type, stage, parents, model, prompt_version from drafts
    union all
    select t.key, 'Tool', t.source, coalesce(p.parents, []::varchar[]), '', ''
    from tools t left join tool_parents p on p.tool = t.key
), ancestors as (
    select s.key as sample, s.key as ancestor, 0 as distance from samples s
    union
    select a.sample, unnest(m.parents) as ancestor, a.distance + 1 as distance
    from ancestors a join made m on m.key = a.ancestor
    where a.distance < 32
)
select a.sample, a.distance, a.ancestor, m.type, m.stage, m.model, m.prompt_version
from ancestors a left join made m on m.key = a.ancestor
order by a.sample, a.distance;
