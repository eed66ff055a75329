-- name: of_candidate
release = ? and candidate = ? and strategy = ? and tools_shown = ?

-- name: pieces
select min(subject) as lowest, max(subject) as highest from (
    select subject, (sum(count(*)) over (order by subject) - 1) // ? as piece
    from predictions where @of_candidate group by subject
) group by piece order by piece

-- name: of_piece
select @columns, key, error_type, matched from predictions
where @of_candidate and subject between ? and ? order by subject, run, turn

-- name: answered
select run, coalesce(m.split, '') as split, count(distinct p.subject) as answered
from predictions p join release_samples m using (release, subject) where @of_candidate group by all

-- name: agreements
select v.prediction, v.agree from judge_verdicts v join predictions p on p.key = v.prediction
where p.release = ? and v.judge = ? and v.version = ?

-- name: grades
select @columns from grades g join predictions p on p.key = g.prediction
where p.release = ? and g.judge = ? and list_contains(?::varchar[], g.version)

-- name: remove_scores
delete from scores where release = ? and candidate = ? and strategy = ? and tools_shown = ? and judge = ? and split = ?
    and not list_contains(?::varchar[], metric)

-- name: subjects
select distinct subject from predictions where @of_candidate and run = ?

-- name: remove_judged
delete from scores where @of_candidate and judge = ? and not list_contains(?, metric)

-- name: scored_otherwise
-- $3 are the figures of runs over multi-step samples, which have a way of their own.
select distinct candidate, strategy, tools_shown, judge from scores
where release = $1 and as_published is distinct from $2 and not list_contains($3, metric)
order by judge, candidate, strategy, tools_shown
