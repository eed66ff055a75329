-- Why records of each build did not go on: a row a stage and reason, with how many, and one of them as an `example` with what was said
-- of it. `outcome` is rejected, failed, or waiting for people; `request` is the example's, '' where it never had one.
create or replace view rejections as
select
    b.recipe, f.build, t.position, f.stage, f.outcome, f.reason_code, f.decided_by, count(*) as n_records,
    count(*) / sum(count(*)) over (partition by f.build) as records_share, arg_min(f.subject, f.subject) as example,
    arg_min(f.reason, f.subject) as reason, coalesce(arg_min(s.request, f.subject), '') as request
from outcomes f
join builds b on b.key = f.build
left join stages t on t.name = f.stage
left join (select key, request from samples) s on s.key = f.subject
where f.outcome <> 'passed'
group by b.recipe, f.build, t.position, f.stage, f.outcome, f.reason_code, f.decided_by
order by b.recipe, f.build, t.position, n_records desc;
