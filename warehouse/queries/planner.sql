-- name: passed
-- The samples of a build that may land without people, by the grades that the recipe lets land.
with mine as (
    select distinct b.sample from build_samples b
    where b.build = ? and exists (select 1 from outcomes f
        where f.build = b.build and f.subject = b.sample and f.stage = 'duplicates' and f.outcome = 'passed')
)
select g.subject from sample_grades g join mine m on m.sample = g.subject where list_contains(?::varchar[], g.grade)

-- name: planned
-- The planner's own marks are the outcomes of what it planned, at whatever stage.
select d.type, d.body ->> 'kind' as kind, d.body ->> 'transform' as transform, s.kind as source,
    coalesce(s.language, d.body ->> 'language') as language,
    coalesce(d.body ->> 'domain', d.body ->> 'complexity', '') as place,
    sum(coalesce((d.body ->> 'variants')::int, 1))::int as planned
from drafts d left join samples s on s.key = d.body ->> 'source'
where list_contains(?, d.type)
    and exists (select 1 from outcomes f where f.build = ? and f.subject = d.key)
group by all

-- name: passed_by_place
select kind, language, category, coalesce(sample_fact(body, 'complexity'), '') as complexity, count(*) as passed
from samples where key in (@passed) group by all

-- name: passed_of_kinds
select key, body from samples where key in (@passed) and list_contains(?, kind) and language = ? order by key
