-- How arguments stand in the newest audit of each source and model: how many arguments that a defect made `n_wrong`
-- stand so (`grade`: said, derived, not_said, contradicted), how many of these in samples that land all the same (`n_wrong_landed`), and how many of those of intact samples (`n_correct`).
-- `precision` is the share of correct ones among those that stand so where as many are wrong as correct.
create or replace view audit_argument_grades as
with newest as (
    select source, model, arg_max(key, made_at) as audit from audits group by all
), counted as (
    select
        n.source, n.model, c.language, a.grade, count(*) filter (a.is_wrong) as wrong,
        count(*) filter (a.is_wrong and c.decision in ('proved', 'judged')) as wrong_landed, count(*) filter (not a.is_wrong) as correct
    from newest n join audit_arguments a using (audit) join audit_cases c using (audit, subject, defect) group by all
), shares as (
    select *, wrong / nullif(sum(wrong) over of_audit, 0) as wrong_share, correct / nullif(sum(correct) over of_audit, 0) as correct_share
    from counted window of_audit as (partition by source, model, language)
)
select source, model, language, grade, wrong as n_wrong, wrong_landed as n_wrong_landed, wrong_share, correct as n_correct, correct_share,
    correct_share / nullif(correct_share + wrong_share, 0) as precision
from shares order by source, model, language, grade;
