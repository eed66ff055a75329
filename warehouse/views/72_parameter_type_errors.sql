-- The share of a release's gold arguments of each type that a run of a model got wrong, by split (ComplexFuncBench 4.3.1, Figure 5).
create or replace view parameter_type_errors as
select
    r.release, m.split, r.candidate, r.strategy, r.mode, r.run, r.judge, c.parameter_type, sum(c.due)::bigint as n_due, sum(c.wrong)::bigint as n_wrong,
    sum(c.wrong) / nullif(sum(c.due), 0) as wrong_share
from multi_step_runs r join parameter_counts c on c.run = r.key left join release_samples m on m.release = r.release and m.subject = r.subject
group by all order by r.release, m.split, r.candidate, r.mode, r.run, r.judge, wrong_share desc, c.parameter_type;
