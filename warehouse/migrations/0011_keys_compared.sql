-- These grow with the samples. Their keys stood in an index that DuckDB holds in memory whenever it writes, and in the file: most
-- of both. Landing compares the keys instead (warehouse/inserts.py), and each of these rows is still there once.
create table keyless (
    build varchar not null, sample varchar not null, draft varchar not null
);
insert into keyless by name select * from build_samples;
drop table build_samples;
alter table keyless rename to build_samples;

create table keyless (
    key varchar not null, type varchar not null, body json not null, stage varchar not null,
    parents varchar[] not null, model varchar not null, prompt_version varchar not null, planted varchar not null
);
insert into keyless by name select * from drafts;
drop table drafts;
alter table keyless rename to drafts;

create table keyless (
    key varchar not null, kind varchar not null, language varchar not null, category varchar not null,
    request varchar not null, gold json not null, body json not null, stage varchar not null, parents varchar[] not null, seed bigint not null,
    model varchar not null, prompt_version varchar not null, planted varchar not null, call_turns integer, calls integer
);
insert into keyless by name select * from samples;
drop table samples;
alter table keyless rename to samples;

create table keyless (
    build varchar not null, stage varchar not null, subject varchar not null,
    outcome varchar not null check (outcome in ('passed', 'rejected', 'failed', 'waiting')),
    reason varchar not null, made_at timestamptz not null
);
insert into keyless by name select * from fates;
drop table fates;
alter table keyless rename to fates;

create table keyless (
    key varchar not null, subject varchar not null, check_name varchar not null,
    decision varchar not null check (decision in ('proved', 'unproved', 'contradicted')),
    score double, reason varchar not null, evidence json not null, version varchar not null, made_at timestamptz not null
);
insert into keyless by name select * from verdicts;
drop table verdicts;
alter table keyless rename to verdicts;

create table keyless (
    subject varchar not null, build varchar not null, recipe varchar not null, proved boolean not null,
    accepted_by varchar not null, vouched boolean not null, accepted_at timestamptz not null, withdrawn_at timestamptz
);
insert into keyless by name select * from acceptances;
drop table acceptances;
alter table keyless rename to acceptances;
