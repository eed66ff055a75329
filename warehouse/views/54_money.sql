-- Of which kind are the samples that came of a record of a build: of a draft, or of the sample itself; 'several' where a draft led to
-- samples of several kinds. It walks the whole lineage.
create or replace view subject_kinds as
with related as (
    select distinct ancestor as subject, sample from ancestry
), records as (
    select key from samples
    union all
    select key from drafts
)
select r.subject, case when min(s.kind) = max(s.kind) then min(s.kind) else 'several' end as kind, count(*) as samples
from related r semi join records d on d.key = r.subject join samples s on s.key = r.sample
group by r.subject;

-- What was asked of models and what it cost, by what for: a row a build or a candidate of a release, stage, model and kind of sample.
-- `kind` is '' where nothing became a sample; `candidate` is '' for what a judge was asked about all candidates. It walks the whole
-- lineage: for sums without kinds, llm_cost and evaluation_cost are quick.
create or replace view money as
select
    coalesce(b.recipe, '') as recipe, c.build, c.release, c.candidate, t.position, coalesce(t.stage_group, '') as stage_group, c.stage,
    c.model, coalesce(k.kind, '') as kind, count(*) as requests, count(*) filter (c.cached) as cached,
    count(*) filter (c.error <> '') as errors, sum(c.prompt_tokens) as prompt_tokens, sum(c.completion_tokens) as completion_tokens,
    sum(c.cost) as cost, sum(c.latency) filter (not c.cached) as seconds
from llm_calls c
left join builds b on b.key = c.build
left join stages t on t.name = c.stage
left join subject_kinds k on k.subject = c.subject
group by all order by recipe, c.build, c.release, c.candidate, t.position, c.stage, kind;

-- What each accepted sample has cost: all requests about it and about what it was made of, where several samples came of one draft
-- each with its part. What was spent on records that came to nothing is in no row: see cost_per_accepted. It walks the whole lineage.
create or replace view sample_cost as
with asked as (
    select subject, count(*) as requests, sum(cost) as cost, sum(latency) filter (not cached) as seconds
    from llm_calls where build <> '' and subject <> '' group by subject
), shared as (
    select a.subject, k.samples, a.requests, a.cost, a.seconds from asked a join subject_kinds k using (subject)
)
select
    a.recipe, a.build, a.key as sample, a.kind, a.language, sum(s.requests / s.samples) as requests, sum(s.cost / s.samples) as cost,
    sum(s.seconds / s.samples) as seconds
from accepted_samples a join ancestry l on l.sample = a.key join shared s on s.subject = l.ancestor
group by all;
