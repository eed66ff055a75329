-- A candidate's run over a multi-step sample, whole: how it ended, and every reply. The same run in another mode of
-- ComplexEval, or with another judge, is another run: what it was told on the way may differ.
create table multi_step_runs (
    key varchar primary key, release varchar not null, subject varchar not null, model varchar not null, strategy varchar not null,
    mode varchar not null check (mode in ('as_paper', 'as_published_code')), run integer not null, judge varchar not null,
    settings varchar not null, success boolean not null, correct_calls integer not null, total_calls integer not null,
    steps integer not null, shortest integer not null, turns integer not null, error_type varchar not null,
    error_parameter varchar not null, parameter_type varchar not null, completeness integer, correctness integer,
    messages json not null, made_at timestamptz not null,
    unique (release, subject, model, strategy, mode, run, judge)
);

-- What was wrong with single calls of a run, whether it recovered or not.
create table call_errors (
    key varchar primary key, run varchar not null, turn integer not null, call integer not null, tool varchar not null,
    error_type varchar not null, parameter varchar not null, parameter_type varchar not null, reason varchar not null
);

-- Of each type of parameter: how many arguments the gold calls of a run have, and how many the candidate got wrong.
create table parameter_counts (
    run varchar not null, parameter_type varchar not null, due integer not null, wrong integer not null,
    primary key (run, parameter_type)
);
