-- How many findings of each sort people have judged, and how many they confirmed, over all audits. The newest judgement of a finding
-- counts, once for all audits of the same files; what was only noted does not.
create or replace view finding_precision as
with judged as (
    select f.sort, j.source, j.finding, arg_max(j.verdict, j.judged_at) as verdict
    from finding_verdicts j
    join (select distinct a.source, f.key, f.sort from findings f join data_audits a on a.key = f.audit) f
        on f.source = j.source and f.key = j.finding
    where j.verdict <> 'noted' group by all
), counted as (
    select sort, count(*) as n_judged, count(*) filter (verdict = 'confirmed') as n_confirmed from judged group by sort
)
select sort, n_judged, n_confirmed, n_confirmed / n_judged as precision, share_interval(n_confirmed, n_judged).low as low,
    share_interval(n_confirmed, n_judged).high as high
from counted order by sort;
