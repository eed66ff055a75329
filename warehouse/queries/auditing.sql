-- name: of_release
select s.key, s.kind, s.language from samples s join release_samples r on r.subject = s.key where r.release = ? order by s.key

-- name: landed
select key, kind, language from accepted_samples where build in (select build from latest_builds) order by key
