-- name: funnel
-- The stages of the newest build of a recipe, or of all recipes for "", that had anything to do.
select recipe, build, stage, n_entered as entered, n_passed as passed, n_rejected as rejected, n_failed as failed, n_waiting as waiting,
    n_not_applicable as not_applicable, n_personal_values as personal_data
from funnel
where is_latest and n_entered > n_not_applicable and (? = '' or recipe = ?)
order by recipe, position;
