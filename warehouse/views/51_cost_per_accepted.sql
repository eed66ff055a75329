-- Money and calls for each sample that a build's recipe has landed.
create or replace view cost_per_accepted as
with spent as (
    select build, sum(cost) as cost, count(*) filter (not cached) as calls from llm_calls where build <> '' group by build
), landed as (
    select build, count(*) as accepted from outcomes where stage = 'land' and outcome = 'passed' group by build
)
select
    b.recipe, b.key as build, coalesce(l.accepted, 0) as accepted, coalesce(s.calls, 0) as calls, coalesce(s.cost, 0) as cost,
    s.calls / nullif(l.accepted, 0) as calls_per_accepted, s.cost / nullif(l.accepted, 0) as cost_per_accepted
from builds b left join spent s on s.build = b.key left join landed l on l.build = b.key;
