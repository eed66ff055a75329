-- What has landed and was not withdrawn. `proved`: a machine proved each gold argument; `vouched`: a person accepted
-- it without that proof. `evidence` is the proof of the newest grounding verdict.
create or replace view accepted_samples as
with grounding as (
    select subject, arg_max(evidence, made_at) as evidence
    from verdicts where check_name = 'grounding' group by subject
)
select
    s.key, s.kind, s.language, s.category, s.request, s.gold, a.proved, a.vouched, a.accepted_by, a.accepted_at,
    coalesce(g.evidence, '[]'::json) as evidence, a.recipe, a.build, s.model, s.prompt_version, s.seed, s.planted, s.body
from acceptances a
join samples s on s.key = a.subject
left join grounding g on g.subject = s.key
where a.withdrawn_at is null;
