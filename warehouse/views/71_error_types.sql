-- How each run of a model went wrong on a release, by the kind of sample and its split (null without splits): at a snapshot, or over a multi-step sample as a whole
-- (these are told apart by ComplexEval's mode and the judge, and see all tools all the time). Snapshots in rule mode: what a
-- judge forgives is an error here.
create or replace view error_types as
select
    p.release, m.split, p.candidate, p.strategy, p.tools_shown, p.run, s.kind, p.error_type, count(*) as n_predictions, '' as mode, '' as judge
from predictions p join samples s on s.key = p.subject left join release_samples m on m.release = p.release and m.subject = p.subject
where p.error_type <> '' group by all
union all
select r.release, m.split, r.candidate, r.strategy, 'first', r.run, s.kind, r.error_type, count(*), r.mode, r.judge
from multi_step_runs r join samples s on s.key = r.subject left join release_samples m on m.release = r.release and m.subject = r.subject
where r.error_type <> '' group by all
order by all;
