-- The newest build of each recipe: the one that ended last; one that has not ended yet only where no other has. What was
-- cut off has landed nothing, and must not hide what there is.
create or replace view latest_builds as
select
    recipe, arg_max(key, coalesce(finished_at, started_at - interval 100 year)) as build,
    arg_max(started_at, coalesce(finished_at, started_at - interval 100 year)) as started_at
from builds group by recipe;
