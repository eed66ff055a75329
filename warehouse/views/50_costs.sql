-- What a request to a model was for: what reads or judges for no build does so in an audit.
create or replace macro call_purpose(release, build, stage_group, role) as case
    when release <> '' then 'evaluating' when stage_group = 'measuring' then if(build = '', 'auditing', 'measuring')
    when role in ('checker', 'judge') then if(build = '', 'auditing', 'checking') else 'making' end;

-- What was asked of models and what it cost, by `purpose`: making tools and samples, checking them (readers and judges),
-- measuring a build's readers, evaluating candidates (with their judges and simulated users), and auditing. One row per build,
-- or per candidate of a release with its strategy ('' for what was asked about all candidates), stage and model. Figures per
-- accepted sample are null where samples are not charged with them, so that their sums over a build are what one sample took.
create or replace view costs as
with asked as (
    select
        call_purpose(c.release, c.build, t.stage_group, t.role) as purpose, c.build, c.release, c.candidate, c.strategy, t.position,
        coalesce(t.stage_group, '') as stage_group, c.stage, c.model, count(*) as n_requests, count(*) filter (c.cached) as n_cached,
        count(*) filter (c.error <> '') as n_errors, sum(c.prompt_tokens)::bigint as prompt_tokens,
        sum(c.completion_tokens)::bigint as completion_tokens, sum(c.cost) as cost,
        coalesce(sum(c.latency) filter (not c.cached), 0) as seconds, quantile_cont(c.latency, 0.5) filter (not c.cached) as median_latency
    from llm_calls c left join stages t on t.name = c.stage group by all
), landed as (
    select build, count(*) as n_accepted from outcomes where stage = 'land' and outcome = 'passed' group by build
)
select
    a.purpose, coalesce(b.recipe, '') as recipe, a.* exclude (purpose, is_charged), coalesce(l.n_accepted, 0) as n_accepted,
    if(is_charged, a.n_requests - a.n_cached, null) / nullif(l.n_accepted, 0) as requests_per_accepted,
    if(is_charged, a.prompt_tokens + a.completion_tokens, null) / nullif(l.n_accepted, 0) as tokens_per_accepted,
    if(is_charged, a.cost, null) / nullif(l.n_accepted, 0) as cost_per_accepted
from (select *, purpose in ('making', 'checking') as is_charged from asked) a
left join builds b on b.key = a.build left join landed l on l.build = a.build
order by a.purpose, recipe, a.build, a.release, a.candidate, a.strategy, a.position, a.stage, a.model;
