-- The newest build of each recipe.
create or replace view latest_builds as
select recipe, arg_max(key, started_at) as build, max(started_at) as started_at
from builds group by recipe;
