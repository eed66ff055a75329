-- entered = passed + rejected + failed + waiting, at each stage of each build; `balanced` says that it is so and that
-- what a stage passed on is what the next one met.
create or replace view funnel as
select
    b.recipe, f.build, s.position, s.stage_group, f.stage,
    count(*) as entered,
    count(*) filter (f.outcome = 'passed') as passed,
    count(*) filter (f.outcome = 'rejected') as rejected,
    count(*) filter (f.outcome = 'failed') as failed,
    count(*) filter (f.outcome = 'waiting') as waiting,
    f.build = l.build as is_latest
from fates f
join builds b on b.key = f.build
join latest_builds l on l.recipe = b.recipe
left join stages s on s.name = f.stage
group by all
order by b.recipe, f.build, s.position;
