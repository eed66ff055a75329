-- Each call of a model has an id, so that one that was written down before its process was killed lands once; and it says what it was
-- about: the record of a build, or the release and the candidate of an evaluation.
create table calls_once (
    id varchar not null, request varchar not null, build varchar not null, stage varchar not null, model varchar not null,
    prompt_version varchar not null, sample_index bigint not null, prompt_tokens bigint not null, completion_tokens bigint not null,
    cost double not null, latency double not null, cached boolean not null, planted varchar not null, error varchar not null,
    subject varchar not null, release varchar not null, candidate varchar not null, made_at timestamptz not null
);
insert into calls_once by name select *, uuid()::varchar as id, '' as subject, '' as release, '' as candidate from llm_calls;
drop table llm_calls;
alter table calls_once rename to llm_calls;
-- Its last writer is gone.
drop table landed_shards;
