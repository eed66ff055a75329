-- How each run of a model went wrong on a release, by the kind of sample. Rule mode: what a judge forgives is an error here.
create or replace view error_types as
select p.release, p.model, p.strategy, p.tools_shown, p.run, s.kind, p.error_type, count(*) as predictions
from predictions p join samples s on s.key = p.subject
where p.error_type <> '' group by all order by p.release, p.model, p.run, s.kind, predictions desc;
