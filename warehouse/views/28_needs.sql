-- What each recipe's builds that count lack of what they plan, a row a kind: `planned`, `lacking`, how many have `landed` of each
-- category, and of how many `categories` they have some: a kind's plan is spread evenly over them.
create or replace view recipe_needs as
with kinds as (
    select key, kind, category from samples
), made as (
    select l.recipe, k.kind, count(distinct k.category) as categories
    from latest_builds l join build_samples b on b.build = l.build join kinds k on k.key = b.sample group by all
), plans as (
    select l.recipe, p.kind, sum(p.planned)::integer as planned from latest_builds l join (
        select build, one.key as kind, (one.value ->> '$')::integer as planned
        from (select key as build, unnest(map_entries(json_fields(body -> 'samples'))) as one from builds)
    ) p on p.build = l.build group by all
), landed as (
    select l.recipe, k.kind, count(*) as samples, histogram(k.category) as landed
    from latest_builds l join outcomes f on f.build = l.build and f.stage = 'land' and f.outcome = 'passed'
    join kinds k on k.key = f.subject group by all
)
select
    p.recipe, p.kind, p.planned, p.planned - coalesce(n.samples, 0) as lacking,
    n.landed, m.categories
from plans p
left join landed n on n.recipe = p.recipe and n.kind = p.kind
left join made m on m.recipe = p.recipe and m.kind = p.kind;

-- As `recipe_needs`, for toolsets: tools are planned so many a category and language; `usable` of these passed their review.
create or replace view toolset_needs as
select
    y.key as toolset, t.category, t.language, json_extract_string(any_value(y.body), '$.source.tools_per_category')::integer as planned,
    count(*) filter (f.stage = 'tool_review' and f.outcome = 'passed') as usable
from toolsets y join outcomes f on f.build = y.key join tools t on t.key = f.subject
group by all;
