-- What each stage of a build asked for each sample that the build landed. `calls` went out, `cached` ones the ledger answered;
-- `errors` are calls that came to nothing, and paid for all the same where they have a cost. A stage without a row asked no model.
create or replace view calls_per_accepted as
with asked as (
    select
        build, stage, count(*) filter (not cached) as calls, count(*) filter (cached) as cached, count(*) filter (error <> '') as errors,
        sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(cost) as cost
    from llm_calls where build <> '' group by build, stage
), landed as (
    select build, count(*) as accepted from outcomes where stage = 'land' and outcome = 'passed' group by build
)
select
    b.recipe, a.build, s.position, s.stage_group, a.stage, coalesce(l.accepted, 0) as accepted, a.calls, a.cached, a.errors,
    a.prompt_tokens, a.completion_tokens, a.cost, a.calls / nullif(l.accepted, 0) as calls_per_accepted,
    (a.prompt_tokens + a.completion_tokens) / nullif(l.accepted, 0) as tokens_per_accepted, a.cost / nullif(l.accepted, 0) as cost_per_accepted
from asked a
join builds b on b.key = a.build
left join landed l on l.build = a.build
left join stages s on s.name = a.stage
order by b.recipe, a.build, s.position;
