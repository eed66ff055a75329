-- name: of_runs
release = ? and candidate = ? and mode = ? and judge = ? and strategy = ?

-- name: counted
select run, coalesce(m.split, '') as split, count(*) as runs
from multi_step_runs join release_samples m using (release, subject) where @of_runs group by all

-- name: results
select @columns, count(*) as times
from multi_step_runs r join (select key, kind, category, language from samples) s on s.key = r.subject
join release_samples m using (release, subject)
where @of_runs and (? = '' or m.split = ?) group by @columns

-- name: remove_scores
delete from scores where release = ? and candidate = ? and strategy = ? and tools_shown = ? and judge = ? and split = ?
    and list_contains(?::varchar[], metric)

-- name: builds
select b.recipe, b.body from builds b where b.key in (
    select f.build from outcomes f join release_samples r on r.subject = f.subject join samples s on s.key = f.subject
    where r.release = ? and f.stage = 'land' and f.outcome = 'passed' and list_contains(?::varchar[], s.kind)
) order by b.started_at

-- name: known
select subject from multi_step_runs where @of_runs and run = ?
