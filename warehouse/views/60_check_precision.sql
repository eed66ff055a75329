-- How each check fared on samples whose defect is known because the template model was told to make it, and on those
-- that a person decided: `caught` is the share of bad ones it did not prove, `false_alarms` the share of good ones.
create or replace view check_precision as
with truth as (
    select s.key, s.planted <> '' or coalesce(bool_or(r.decision <> 'accept'), false) as is_bad,
        s.planted <> '' or count(r.key) > 0 or s.model like 'template/%' as is_known
    from samples s left join reviews r on r.subject = s.key group by s.key, s.planted, s.model
), newest as (
    select subject, check_name, arg_max(decision, made_at) as decision from verdicts group by all
)
select
    v.check_name, count(*) as judged, count(*) filter (t.is_bad) as bad,
    count(*) filter (t.is_bad and v.decision <> 'proved') / nullif(count(*) filter (t.is_bad), 0) as caught,
    count(*) filter (not t.is_bad and v.decision <> 'proved') / nullif(count(*) filter (not t.is_bad), 0) as false_alarms
from newest v join truth t on t.key = v.subject
where t.is_known group by v.check_name order by v.check_name;
