-- What has landed and was not withdrawn. `grade` is the weakest of its claims (see sample_grades): `proved` by rules, `judged` by
-- the models in `judged_by`, which did not make it, or `vouched` for by a person in spite of what was open. `is_template`: the template model worded or judged it, so that it is for trying out, not for
-- training. `is_trial`: only a trial has landed it. `persona` and `style` are who speaks and how, where the recipe names any. `evidence` is the proof of the newest grounding verdict.
create or replace view accepted_samples as
with grounding as (
    select subject, arg_max(evidence, made_at) as evidence
    from verdicts where check_name = 'grounding' group by subject
)
select
    s.key, s.kind, s.language, s.category, s.request, s.gold, a.grade, a.judged_by,
    is_template(s.model, b.generator, a.grade, a.judged_by) as is_template,
    a.accepted_by, a.accepted_at,
    coalesce(g.evidence, '[]'::json) as evidence, a.recipe, a.build, s.model, s.prompt_version, s.seed, s.planted, s.body,
    coalesce(b.is_trial, false) as is_trial, coalesce(sample_fact(s.body, 'persona'), '') as persona,
    coalesce(sample_fact(s.body, 'style'), '') as style
from acceptances a
join samples s on s.key = a.subject
left join made_by b on b.key = a.build
left join grounding g on g.subject = s.key
where a.withdrawn_at is null;
