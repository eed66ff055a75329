-- name: landed
landed as (
    select f.build, f.subject from outcomes f semi join acceptances a on a.subject = f.subject and a.withdrawn_at is null
    where f.stage = 'land' and f.outcome = 'passed'
)

-- name: builds
-- The builds that have landed samples, the newest of each recipe first.
with @landed
select b.key, b.recipe, coalesce(b.is_trial, false) as is_trial, b.started_at, b.finished_at,
    l.build is not null as is_latest, count(*) as landed, list(distinct s.kind) as kinds, list(distinct s.language) as languages
from landed d join builds b on b.key = d.build join samples s on s.key = d.subject left join latest_builds l on l.build = b.key
group by all order by recipe, b.started_at desc, key

-- name: selected
with @landed, asked as (select ?::varchar[] as builds, ?::varchar[] as kinds, ?::varchar[] as languages)
select distinct d.subject from landed d join samples s on s.key = d.subject, asked a
where list_contains(a.builds, d.build) and (a.kinds = [] or list_contains(a.kinds, s.kind))
    and (a.languages = [] or list_contains(a.languages, s.language))
order by d.subject

-- name: taken
with @landed
select d.build, count(*) as taken from landed d semi join (select unnest(?::varchar[]) as key) t on t.key = d.subject
group by d.build
