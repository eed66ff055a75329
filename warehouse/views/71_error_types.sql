-- How each model went wrong on a release, by the kind of sample.
create or replace view error_types as
select p.release, p.model, s.kind, p.error_type, count(*) as predictions
from predictions p join samples s on s.key = p.subject
where p.error_type <> '' group by all order by p.release, p.model, s.kind, predictions desc;
