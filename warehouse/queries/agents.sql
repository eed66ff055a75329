-- name: funnel
-- The stages of the newest build of a recipe, or of all recipes for "", that had anything to do.
select * exclude (is_latest, stage_group, position)
from funnel
where is_latest and entered > not_applicable and (? = '' or recipe = ?)
order by recipe, position;
