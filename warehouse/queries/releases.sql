-- name: taken
with taken as (
    select s.*, coalesce(r.split, '') as split,
        coalesce(is_template(s.model, b.body ->> '$.models.generator.name', a.grade, a.judged_by), false) as of_template
    from samples s join release_samples r on r.subject = s.key left join acceptances a on a.subject = s.key
    left join builds b on b.key = a.build where r.release = ? and not list_contains(?::varchar[], s.kind)
)

-- name: bodies
@taken
select split, body from taken where ? or not of_template order by key

-- name: of_template
@taken
select kind, count(*) as samples from taken where of_template group by kind

-- name: untold
-- Whether a recipe of the release wants no system message in rows of training.
select count(*) > 0 as untold from release_samples r join acceptances a on a.subject = r.subject join builds b on b.key = a.build
where r.release = ? and b.body ->> '$.system_message' = 'none'

-- name: kinds
select s.kind, count(*) as samples from samples s join release_samples r on r.subject = s.key
where r.release = ? group by s.kind order by s.kind

-- name: keys_of_kinds
select s.key, r.split from samples s join release_samples r on r.subject = s.key
where r.release = ? and list_contains(?::varchar[], s.kind) order by s.key
