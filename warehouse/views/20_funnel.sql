-- What became of records at each stage of each build: n_entered = n_passed + n_rejected + n_failed + n_waiting. Once a build is
-- done, what one stage passed on is what the next one met. An edited sample takes the place of the one that it was edited from,
-- and its own checks are not counted; nor are readings that measure readers.
create or replace view funnel as
select
    b.recipe, f.build, s.position, s.stage_group, f.stage,
    count(*) as n_entered,
    count(*) filter (f.outcome = 'passed') as n_passed,
    count(*) filter (f.outcome = 'rejected') as n_rejected,
    count(*) filter (f.outcome = 'failed') as n_failed,
    count(*) filter (f.outcome = 'waiting') as n_waiting,
    f.build in (select build from latest_builds) as is_latest,
    count(*) filter (f.outcome = 'passed' and f.reason_code = 'not_applicable') as n_not_applicable,
    coalesce(any_value(p.n_values) filter (f.stage = 'taken'), 0) as n_personal_values
from outcomes f
join builds b on b.key = f.build
left join stages s on s.name = f.stage
left join (select build, sum(n_values)::bigint as n_values from personal_data group by build) p on p.build = f.build
where s.stage_group is distinct from 'measuring'
    and (f.stage = 'land' or not exists (select 1 from samples e where e.key = f.subject and e.stage = 'review'))
group by all
order by b.recipe, f.build, s.position;
