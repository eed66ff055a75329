-- The share of a release's gold arguments of each type that a run of a model got wrong, by split (ComplexFuncBench 4.3.1, Figure 5).
create or replace view parameter_type_errors as
select
    r.release, m.split, r.candidate, r.strategy, r.mode, r.run, r.judge, c.parameter_type, sum(c.due) as due, sum(c.wrong) as wrong,
    sum(c.wrong) / nullif(sum(c.due), 0) as error_rate
from multi_step_runs r join parameter_counts c on c.run = r.key left join release_samples m on m.release = r.release and m.subject = r.subject
group by all order by r.release, m.split, r.candidate, r.mode, r.run, r.judge, error_rate desc, c.parameter_type;
