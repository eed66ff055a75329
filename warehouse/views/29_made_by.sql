-- The model that words a build's samples, by the build's recipe: `generator`.
create or replace view made_by as
with recipes as materialized ( -- a recipe is read once, not for each sample that is joined to it
    select key, recipe, body ->> '$.models.generator.name' as generator, is_trial from builds
)
select * from recipes;
