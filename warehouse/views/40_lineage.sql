-- The keys of every sample's ancestors, one row each, as in `lineage`, which says what they are.
create or replace macro ancestors_of_samples() as table
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
), ancestors as ( -- each step's are told apart by themselves: `union` would hold all of them in memory to the end
    select key as sample, 0 as distance, key as ancestor from samples
    union all
    select distinct a.sample, a.distance + 1, l.parent from ancestors a join links l on l.child = a.ancestor where a.distance < 32
)
select * from ancestors;

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
from ancestors_of_samples() a left join stored m on m.key = a.ancestor;
