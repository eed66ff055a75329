-- name: of_contents
select * from data_audits where contents = ? order by started_at desc limit 1

-- name: named
select * from data_audits where $1 in ('', name, key) order by started_at desc limit 1

-- name: counts
select severity, sort, count(*) as count from findings where audit = ? group by all

-- name: judged
select j.finding, arg_max(j.verdict, j.judged_at) as verdict
from finding_judgements j join data_audits a on a.key = j.audit where a.source = $2 group by j.finding

-- name: standing
select distinct f.severity from findings f left join (@judged) j on j.finding = f.key
where f.audit = $1 and coalesce(j.verdict, '') <> 'refused'

-- name: findings
-- $1 is an audit, $2 its source, $3 and $4 are rank and position of the last finding that was read, $5 how many to read, $6 whether
-- by place alone.
with ranked as (
    select *, if($6, 1, list_position(['error', 'warning', 'note'], severity)) as rank from findings where audit = $1
)
select f.*, coalesce(j.verdict, '') as verdict from ranked f left join (@judged) j on j.finding = f.key
where (rank, position) > ($3, $4) order by rank, position limit $5

-- name: precision
select * from finding_precision
