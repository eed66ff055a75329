-- What each grade is worth in the newest audit of each source and model: how many `n_broken` and `n_intact` samples got it. `precision`
-- is the share of intact ones among those of the grade where as many are broken as intact.
create or replace view audit_grades as
with newest as (
    select source, model, arg_max(key, made_at) as audit from audits group by all
), counted as (
    select
        n.source, n.model, c.language, c.decision as grade, count(*) filter (c.is_broken) as broken,
        count(*) filter (not c.is_broken) as intact
    from newest n join audit_cases c using (audit) group by all
), shares as (
    select *,
        broken / nullif(sum(broken) over of_audit, 0) as broken_share, intact / nullif(sum(intact) over of_audit, 0) as intact_share
    from counted window of_audit as (partition by source, model, language)
)
select source, model, language, grade, broken as n_broken, broken_share, intact as n_intact, intact_share,
    intact_share / nullif(intact_share + broken_share, 0) as precision
from shares order by source, model, language, grade;
