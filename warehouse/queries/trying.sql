-- name: failed
-- Why drafts of a build failed, by the group of stages that makes them, the most frequent reason first.
select s.stage_group, f.stage, any_value(f.reason) as reason, count(*) as failed
from failures f join stages s on s.name = f.stage
where f.build = ? group by all order by failed desc, f.stage

-- name: doubted
-- What stands against samples of a build that have not landed, by kind.
select s.kind, v.check_name, v.decision, v.reason
from build_samples b join samples s on s.key = b.sample
join newest_verdicts v on v.subject = s.key
where b.build = ? and v.decision in ('contradicted', 'unproved')
order by s.kind, v.decision, s.key, v.check_name
