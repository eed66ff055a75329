-- The keys of every sample's ancestors, one row each, as in `lineage`, which says what they are.
create or replace view ancestry as
with recursive tool_parents as (
    select tool, draft as parent from made_tools
    union
    select result, subject from reviews where kind = 'tool_review' and result is not null
), links as (
    select key as child, unnest(parents) as parent from samples
    union all
    select key, unnest(parents) from drafts
    union all
    select p.tool, p.parent from tool_parents p semi join tools t on t.key = p.tool
), numbered as materialized ( -- numbers are walked far quicker than keys, and nothing else of a record is held meanwhile
    select row_number() over () as id, * from (
        select key, true as is_sample from samples
        union all
        select distinct parent, false from links l anti join samples s on s.key = l.parent
    )
), steps as materialized (
    select c.id as child, p.id as parent
    from links l join numbered c on c.key = l.child join numbered p on p.key = l.parent
), ancestors as (
    select id as sample, id as ancestor, 0 as distance from numbered where is_sample
    union
    select a.sample, s.parent, a.distance + 1 from ancestors a join steps s on s.child = a.ancestor where a.distance < 32
)
select s.key as sample, a.distance, m.key as ancestor
from ancestors a join numbered s on s.id = a.sample join numbered m on m.id = a.ancestor;

-- Every ancestor of every sample, one row each: distance 0 is the sample, then its draft call, its parameter choice,
-- its assignment, the tool; an edited sample has the one it was edited from. A tool that was made has its own drafts
-- behind it, an edited one the tool that it was edited from.
create or replace view lineage as
with stored as (
    select key, 'Sample' as type, stage, model, prompt_version from samples
    union all
    select key, type, stage, model, prompt_version from drafts
    union all
    select key, 'Tool', source, '', '' from tools
)
select a.sample, a.distance, a.ancestor, m.type, m.stage, m.model, m.prompt_version
from ancestry a left join stored m on m.key = a.ancestor;
