-- name: kinds
select s.kind, s.language, coalesce(r.split, '') as split, count(*) as samples,
    count(*) filter (a.grade = 'proved') as proved, count(*) filter (a.grade = 'judged') as judged,
    count(*) filter (a.grade = 'vouched') as vouched
from release_samples r join samples s on s.key = r.subject left join acceptances a on a.subject = r.subject
where r.release = ? group by all order by s.kind, s.language, split

-- name: leakage
select split, other_split, n_near_duplicates as near_duplicates, n_same_requests as same_requests, n_same_parents as same_parents,
    n_same_tools as same_tools
from split_leakage where release = ?

-- name: duplicates
select d.*, s.request, o.request as other_request, count(*) over () as total from release_duplicates d
join samples s on s.key = d.subject join samples o on o.key = d.other
where d.release = ? order by d.likeness desc, d.subject limit @most

-- name: versions
with recursive up as (
    select name, follows, 0 as steps from releases where name = ?
    union all
    select r.name, r.follows, u.steps + 1 from up u join releases r on r.name = u.follows where u.steps < 100
)
select r.name, r.version, r.samples, r.created_at, r.note from up join releases r using (name) order by up.steps

-- name: kept
select s.body, a.evidence, a.grade, coalesce(r.split, '') as split
from release_samples r join samples s on s.key = r.subject
left join accepted_samples a on a.key = s.key
where r.release = ? order by s.key
