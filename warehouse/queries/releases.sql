-- name: bodies
select coalesce(r.split, ''), s.body from samples s join release_samples r on r.subject = s.key
where r.release = ? and not list_contains(?::varchar[], s.kind) order by s.key

-- name: kinds
select s.kind, count(*) as samples from samples s join release_samples r on r.subject = s.key
where r.release = ? group by s.kind order by s.kind

-- name: keys_of_kinds
select s.key, r.split from samples s join release_samples r on r.subject = s.key
where r.release = ? and list_contains(?::varchar[], s.kind) order by s.key
