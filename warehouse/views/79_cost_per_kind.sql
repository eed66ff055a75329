-- What the landed samples of each kind have cost, by model: all requests about them and about what they were made of, where several samples
-- came of one draft each with its part. What was spent on records that came to nothing is in no row: see cost_per_accepted. It walks the
-- whole lineage.
create or replace view cost_per_kind as
with asked as (
    select subject, model, count(*) as requests, sum(cost) as cost from llm_calls where build <> '' and subject <> '' group by all
), kinds_landed as (
    select recipe, build, kind, count(*) as landed from accepted_samples group by all
)
select
    l.recipe, l.build, l.kind, q.model, l.landed, sum(q.requests / k.samples) as requests, sum(q.cost / k.samples) as cost,
    sum(q.cost / k.samples) / l.landed as cost_per_accepted
from kinds_landed l
join accepted_samples a on a.build = l.build and a.kind = l.kind
join ancestry n on n.sample = a.key
join asked q on q.subject = n.ancestor
join subject_kinds k on k.subject = n.ancestor
group by l.recipe, l.build, l.kind, q.model, l.landed order by l.recipe, l.build, l.kind, q.model;
