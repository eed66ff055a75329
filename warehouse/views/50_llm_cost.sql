-- What each stage of each build asked, paid and waited for; `cached` answers came from the ledger and cost nothing.
create or replace view llm_cost as
select
    build, stage, model, count(*) as calls, count(*) filter (cached) as cached, count(*) filter (error <> '') as errors,
    sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(cost) as cost,
    quantile_cont(latency, 0.5) filter (not cached) as median_latency
from llm_calls group by all order by build, stage, model;
