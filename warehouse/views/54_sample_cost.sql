-- What each accepted sample has cost: all requests about it and about what it was made of, where several samples came of one draft each
-- with its part. A row a sample, `purpose` (making, checking; see costs) and model, one with '' where no model was asked. `n_of_kind`
-- samples of this kind were landed first by the build. What was spent on records that came to nothing, and on measuring readers, is in no row:
-- see costs. It walks the whole lineage.
create or replace view sample_cost as
with asked as (
    select
        c.subject, call_purpose(c.release, c.build, t.stage_group, t.role) as purpose, c.model, count(*) as n_requests,
        sum(c.cost) as cost, coalesce(sum(c.latency) filter (not c.cached), 0) as seconds
    from llm_calls c left join stages t on t.name = c.stage where c.build <> '' and c.subject <> '' group by all
), lines as materialized (
    select distinct sample, ancestor from ancestors_of_samples()
), charged as (
    select a.*, count(*) over (partition by a.subject, a.purpose, a.model) as samples, l.sample
    from asked a join lines l on l.ancestor = a.subject where a.purpose in ('making', 'checking')
), landed as (
    select recipe, build, key, kind, language, count(*) over (partition by build, kind) as n_of_kind from accepted_samples
)
select
    l.recipe, l.build, l.key as sample, l.kind, l.language, coalesce(c.purpose, '') as purpose, coalesce(c.model, '') as model,
    coalesce(sum(c.n_requests / c.samples), 0) as n_requests, coalesce(sum(c.cost / c.samples), 0) as cost,
    coalesce(sum(c.seconds / c.samples), 0) as seconds, l.n_of_kind
from landed l left join charged c on c.sample = l.key
group by all;
