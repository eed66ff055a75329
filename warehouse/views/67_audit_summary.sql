-- How well each check, and all of them together (`check_name` is 'all checks'), tell broken samples from intact ones in the
-- newest audit of each source and model; over all, and by kind, family, language, defect, and defect within a family. A defect
-- is compared with the intact samples of the kinds and languages that it was put into. What no check doubts and none settles is
-- open. `precision` is the share of broken ones among what is doubted if as many are broken as intact: recall / (recall + false
-- alarms). `_low` and `_high` are 95 % bounds (Wilson).
create or replace view audit_summary as
with newest as (
    select source, model, arg_max(key, made_at) as audit from audits group by all
), decided as (
    select audit, subject, defect, 'all checks' as check_name, decision in ('unproved', 'contradicted') as is_doubted from audit_cases
    union all
    select audit, subject, defect, check_name, decision <> 'proved' from audit_verdicts
), cases as (
    select
        n.source, n.model, c.audit, d.check_name, d.is_doubted, c.subject, c.defect, c.is_broken, c.kind, c.language,
        case when c.decision in ('proved', 'judged') then c.decision end as landed, coalesce(k.family, c.kind) as family
    from newest n join audit_cases c using (audit)
    join decided d using (audit, subject, defect) left join kinds k on k.name = c.kind
), groups as ( -- into what kinds and languages each defect was put
    select distinct audit, check_name, defect, kind, language from cases where is_broken
), sliced as (
    select source, model, audit, check_name, is_doubted, is_broken, landed, unnest([
        {'by': 'all', 'value': 'all'}, {'by': 'kind', 'value': kind}, {'by': 'family', 'value': family},
        {'by': 'language', 'value': language}
    ]) as slice
    from cases
    union all
    select source, model, audit, check_name, is_doubted, true, landed, unnest([
        {'by': 'defect', 'value': defect}, {'by': 'defect and family', 'value': concat_ws(' in ', defect, family)}
    ])
    from cases where is_broken
    union all
    select source, model, audit, check_name, is_doubted, false, landed, {'by': 'defect', 'value': g.defect}
    from cases c join groups g using (audit, check_name, kind, language) where not c.is_broken
), counted as (
    select
        source, model, audit, check_name, slice.by as slice_by, slice.value as slice_value,
        count(*) filter (is_broken) as broken, count(*) filter (is_broken and is_doubted) as caught,
        count(*) filter (is_broken and landed = 'proved') as still_proved,
        count(*) filter (is_broken and landed = 'judged') as still_judged,
        count(*) filter (not is_broken) as intact, count(*) filter (not is_broken and is_doubted) as alarms
    from sliced group by all
), shares as (
    select *, caught / nullif(broken, 0) as recall, alarms / nullif(intact, 0) as false_alarms, 1.959963984540054 as z from counted
), bounded as (
    select *,
        (recall + z * z / (2 * broken)) / (1 + z * z / broken) as r,
        z / (1 + z * z / broken) * sqrt(recall * (1 - recall) / broken + z * z / (4 * broken * broken)) as dr,
        (false_alarms + z * z / (2 * intact)) / (1 + z * z / intact) as a,
        z / (1 + z * z / intact) * sqrt(false_alarms * (1 - false_alarms) / intact + z * z / (4 * intact * intact)) as da
    from shares
), intervals as (
    select *,
        case when broken > 0 then greatest(0, r - dr) else null end as recall_low, case when broken > 0 then least(1, r + dr) else null end as recall_high,
        case when intact > 0 then greatest(0, a - da) else null end as alarms_low, case when intact > 0 then least(1, a + da) else null end as alarms_high
    from bounded
)
select
    source, model, audit, check_name, slice_by, slice_value, broken as n_broken, caught as n_caught, still_proved as n_still_proved,
    still_judged as n_still_judged, recall, recall_low, recall_high, intact as n_intact, alarms as n_alarms, false_alarms as alarm_share,
    alarms_low as alarm_low, alarms_high as alarm_high,
    recall / nullif(recall + false_alarms, 0) as precision,
    recall_low / nullif(recall_low + alarms_high, 0) as precision_low,
    recall_high / nullif(recall_high + alarms_low, 0) as precision_high
from intervals order by source, model, check_name <> 'all checks', check_name, slice_by <> 'all', slice_by, slice_value;
