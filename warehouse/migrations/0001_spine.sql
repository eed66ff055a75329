-- One row a fact. Keys are content hashes; a fact that is already there is kept once.
create table stages (name varchar primary key, position integer not null, stage_group varchar not null, source varchar not null);

create table builds (
    key varchar primary key, recipe varchar not null, body json not null,
    started_at timestamptz not null, finished_at timestamptz
);

create table tools (
    key varchar primary key, name varchar not null, category varchar not null, language varchar not null,
    source varchar not null, description varchar not null, parameters json not null, returns json
);

-- Which tools a build may use: its catalog as it was.
create table build_tools (build varchar not null, tool varchar not null, primary key (build, tool));

-- Which samples a build made, each of which draft: the same draft may be worded otherwise in another build.
create table build_samples (
    build varchar not null, sample varchar not null, draft varchar not null, primary key (build, sample)
);

-- The records between a tool and a sample: assignments, parameter choices, draft calls.
create table drafts (
    key varchar primary key, type varchar not null, body json not null, stage varchar not null,
    parents varchar[] not null, model varchar not null, prompt_version varchar not null, planted varchar not null
);

create table samples (
    key varchar primary key, kind varchar not null, language varchar not null, category varchar not null,
    request varchar not null, gold json not null, body json not null, stage varchar not null, parents varchar[] not null, seed bigint not null,
    model varchar not null, prompt_version varchar not null, planted varchar not null
);

-- What became of each record at each stage of a build: in = passed + rejected + failed + waiting.
create table fates (
    build varchar not null, stage varchar not null, subject varchar not null,
    outcome varchar not null check (outcome in ('passed', 'rejected', 'failed', 'waiting')),
    reason varchar not null, made_at timestamptz not null, primary key (build, stage, subject)
);

create table verdicts (
    key varchar primary key, subject varchar not null, check_name varchar not null,
    decision varchar not null check (decision in ('proved', 'unproved', 'contradicted')),
    score double, reason varchar not null, evidence json not null, version varchar not null, made_at timestamptz not null
);

create table failures (
    key varchar primary key, build varchar not null, stage varchar not null, subject varchar not null,
    error varchar not null, reason varchar not null, made_at timestamptz not null
);

-- What people are asked to look at: doubtful samples block their landing, spot checks do not.
create table review_requests (
    build varchar not null, subject varchar not null, kind varchar not null,
    cause varchar not null check (cause in ('doubtful', 'spot check')), reason varchar not null,
    requested_at timestamptz not null, pushed_at timestamptz, server varchar, primary key (subject, kind)
);

create table reviews (
    key varchar primary key, subject varchar not null, kind varchar not null, decision varchar not null,
    reviewer varchar not null, reviewed_at timestamptz not null, reasons varchar[] not null, comment varchar not null,
    seconds double not null, result varchar, annotation_id bigint not null, task_id bigint not null, server varchar not null
);

-- What a person typed that could not be used: it goes back to people as the next version of the task.
create table returned_edits (
    subject varchar not null, kind varchar not null, version integer not null, request varchar not null, calls varchar not null,
    problem varchar not null, reviewer varchar not null, made_at timestamptz not null, pushed_at timestamptz,
    primary key (subject, kind, version)
);

-- Where the next pull from a server begins.
create table review_cursors (
    server varchar not null, kind varchar not null, pulled_until timestamptz not null, primary key (server, kind)
);

-- A sample lands once. `proved` says what a machine proved; `accepted_by` is the machine or the reviewer who vouched.
create table acceptances (
    subject varchar primary key, build varchar not null, recipe varchar not null, proved boolean not null,
    accepted_by varchar not null, vouched boolean not null, accepted_at timestamptz not null, withdrawn_at timestamptz
);

create table releases (
    name varchar primary key, key varchar not null, content_hash varchar not null, samples bigint not null,
    created_at timestamptz not null, note varchar not null
);
create table release_samples (release varchar not null, subject varchar not null, primary key (release, subject));

create table predictions (
    key varchar primary key, release varchar not null, subject varchar not null, turn integer not null, model varchar not null,
    strategy varchar not null, run integer not null, text varchar not null, calls json, problem varchar not null,
    error_type varchar not null default '', made_at timestamptz not null, unique (release, subject, turn, model, strategy, run)
);

create table scores (
    release varchar not null, model varchar not null, strategy varchar not null, run integer not null, metric varchar not null,
    slice_by varchar not null, slice_value varchar not null, value double not null, count bigint not null,
    primary key (release, model, strategy, run, metric, slice_by, slice_value)
);

create table llm_calls (
    request varchar not null, build varchar not null, stage varchar not null, model varchar not null,
    prompt_version varchar not null, sample_index integer not null, prompt_tokens bigint not null,
    completion_tokens bigint not null, cost double not null, latency double not null, cached boolean not null,
    planted varchar not null, error varchar not null, made_at timestamptz not null
);
