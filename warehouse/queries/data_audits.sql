-- name: of_contents
select * from data_audits where contents = ? order by started_at desc limit 1

-- name: named
select * from data_audits where $1 in ('', name, key) order by started_at desc limit 1

-- name: counts
select severity, sort, count(*) as count from findings where audit = ? group by all

-- name: judged
select finding, arg_max(verdict, judged_at) as verdict from finding_verdicts where source = $2 group by finding

-- name: standing
select distinct f.severity from findings f left join (@judged) j on j.finding = f.key
where f.audit = $1 and coalesce(j.verdict, '') <> 'refused'

-- name: findings
-- $1 is an audit, $2 its source, $3 and $4 are rank and position of the last finding that was read, $5 how many to read, $6 whether
-- by place alone.
with ranked as (
    -- what more readers say alike comes first among the equally grave
    select *, if($6, 1, list_position(['error', 'warning', 'note'], severity) * 1000 - least(support, 999)) as rank
    from findings where audit = $1
)
select f.*, coalesce(j.verdict, '') as verdict from ranked f left join (@judged) j on j.finding = f.key
where (rank, position) > ($3, $4) order by rank, position limit $5

-- name: precision
select * from finding_precision

-- name: keys
select distinct key from findings where audit = ?

-- name: last_judgements
select finding, person, arg_max(verdict, judged_at) as verdict, arg_max(note, judged_at) as note
from finding_judgements where audit = ? group by all

-- name: asked
select f.*, a.source from findings f join data_audits a on a.key = f.audit where list_contains(?::varchar[], f.key)
qualify row_number() over (partition by f.key order by a.started_at desc) = 1

-- name: unjudged
select key from findings
where audit = $1 and severity <> 'note' and key not in (select finding from finding_verdicts where source = $2) order by position
