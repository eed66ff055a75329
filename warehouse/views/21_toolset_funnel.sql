-- As `funnel`, for the stages that make and check tools: entered = passed + rejected + failed + waiting.
create or replace view toolset_funnel as
select
    f.build as toolset, s.position, f.stage,
    count(*) as entered,
    count(*) filter (f.outcome = 'passed') as passed,
    count(*) filter (f.outcome = 'rejected') as rejected,
    count(*) filter (f.outcome = 'failed') as failed,
    count(*) filter (f.outcome = 'waiting') as waiting
from outcomes f
join toolsets t on t.key = f.build
left join stages s on s.name = f.stage
group by all
order by f.build, s.position;
