-- What each candidate of a release asked, paid and waited for, and what its judges did: a row a strategy and stage, '' for what was asked about all
-- candidates. `cached` answers came from the ledger and cost nothing.
create or replace view evaluation_cost as
select
    release, candidate, strategy, stage, model, count(*) as calls, count(*) filter (cached) as cached, count(*) filter (error <> '') as errors,
    sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(cost) as cost,
    quantile_cont(latency, 0.5) filter (not cached) as median_latency
from llm_calls where release <> '' group by all order by release, candidate, strategy, stage, model;
