-- The runs of a schedule (`each` in a recipe): what each makes stands beside what those before it have made, so a build belongs to a
-- run. Builds of before, and those that no schedule asked for, are of the first run: the recipe as it is written.
alter table builds add column run integer default 1;
update builds set run = 1;
create table scheduled_runs (
    recipe varchar not null, run integer not null, due_at timestamptz not null, began_at timestamptz not null, ended_at timestamptz,
    build varchar not null, tool_changes json not null, release varchar not null, evaluated_at timestamptz, primary key (recipe, run)
);
