-- Who was evaluated on each release: a label with the settings that it was asked with. The same label with other settings is another
-- candidate with a name of its own; `version` counts them, `is_newest` is the one that was asked last. What was evaluated before
-- settings were noted has '' for its model.
create or replace view candidates as
with answers as (
    select
        release, candidate, count(*) as predictions, count(distinct subject) as samples, count(distinct run) as runs,
        list(distinct strategy order by strategy) as strategies, max(made_at) as answered_at
    from predictions group by release, candidate
), paths as (
    select release, candidate, count(*) as multi_step_runs, max(made_at) as answered_at from multi_step_runs group by release, candidate
), spent as (
    select release, candidate, sum(cost) as cost from llm_calls where release <> '' and candidate <> '' group by release, candidate
)
select
    c.release, c.candidate, c.label, row_number() over labels as version,
    c.first_asked_at = max(c.first_asked_at) over (partition by c.release, c.label) as is_newest, c.model, c.options, c.settings, c.prompts,
    c.conditions, c.code_version, coalesce(a.strategies, []) as strategies, coalesce(a.samples, 0) as n_samples,
    coalesce(a.runs, 0) as n_runs, coalesce(a.predictions, 0) as n_predictions, coalesce(p.multi_step_runs, 0) as n_multi_step_runs,
    coalesce(s.cost, 0) as cost, c.first_asked_at, greatest(a.answered_at, p.answered_at) as last_answered_at
from candidate_settings c
left join answers a using (release, candidate)
left join paths p using (release, candidate)
left join spent s using (release, candidate)
window labels as (partition by c.release, c.label order by c.first_asked_at, c.candidate)
order by c.release, c.label, version;
