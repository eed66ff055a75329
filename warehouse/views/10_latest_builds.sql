-- The builds of each recipe that count: of each run of its schedule (a recipe without one has a single run) the one that ended last, a
-- trial only where no other has ended; one that has not ended yet only where none has. `sequence` counts the builds as they end, so that
-- a clock that was set back hides nothing. What was cut off has landed nothing, and must not hide what there is, as a trial must not hide a whole build.
create or replace view latest_builds as
select recipe, key as build, started_at, coalesce(is_trial, false) as is_trial, coalesce(run, 1) as run from builds
qualify row_number() over (
    partition by recipe, coalesce(run, 1)
    order by finished_at is not null desc, coalesce(is_trial, false), coalesce(sequence, 0) desc,
        coalesce(finished_at, started_at) desc, key
) = 1;
