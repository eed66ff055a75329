-- What became of what a model was to word, by build, group of stages, model and language: refused while it was made, open (it waits for people, or
-- waited), judged or proved. `n_made` is what became a sample.
create or replace view making_outcomes as
with wordings as (
    select b.build, s.language, t.stage_group, coalesce(g.grade, 'open') as outcome
    from build_samples b join samples s on s.key = b.sample left join sample_grades g on g.subject = s.key
    left join stages t on t.name = s.stage
    where s.stage <> 'review'
    union all
    select f.build, coalesce(
        d.body ->> '$.language', d.body ->> '$.assignment.language', d.body ->> '$.choice.assignment.language',
        d.body ->> '$.scenario.language', d.body ->> '$.plan.scenario.language', d.body ->> '$.worded.plan.scenario.language',
        d.body ->> '$.goal.language', d.body ->> '$.worded.goal.language', d.body ->> '$.traced.worded.goal.language',
        s.language, ''), t.stage_group, 'refused'
    from outcomes f join drafts d on d.key = f.subject
    left join samples s on s.key = coalesce(
        d.body ->> '$.source', d.body ->> '$.derivation.source', d.body ->> '$.plan.derivation.source',
        d.body ->> '$.reference.derivation.source')
    left join stages t on t.name = f.stage
    where f.outcome = 'failed'
)
select b.recipe, w.build, coalesce(w.stage_group, '') as stage_group, b.generator as model, w.language,
    count(*) as n_asked, count(*) filter (w.outcome <> 'refused') as n_made,
    count(*) filter (w.outcome = 'refused') as n_refused, count(*) filter (w.outcome = 'open') as n_open,
    count(*) filter (w.outcome = 'judged') as n_judged, count(*) filter (w.outcome = 'proved') as n_proved,
    count(*) filter (w.outcome = 'refused') / count(*) as refused_share,
    count(*) filter (w.outcome = 'open') / count(*) as open_share,
    count(*) filter (w.outcome = 'judged') / count(*) as judged_share,
    count(*) filter (w.outcome = 'proved') / count(*) as proved_share
from wordings w join made_by b on b.key = w.build group by all;
