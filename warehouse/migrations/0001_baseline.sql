-- The tables of a warehouse, grouped by topic. The comment above a table becomes its comment in the database; the comments of columns
-- are in vocabulary.yaml. Keys are content hashes. Tables with many rows per sample have no primary key: inserts compare keys instead
-- (docs/decisions/0012).

-- Tools and the catalogs that they come from

-- A tool with its JSON Schemas.
create table tools (
    key varchar primary key, name varchar not null, category varchar not null, language varchar not null,
    source varchar not null, description varchar not null, parameters json not null, constants json,
    plumbing varchar[], original json, returns json
);

-- What was imported of which files under which selection.
create table catalogs (
    key varchar primary key, format varchar not null, path varchar not null, files json not null,
    selection json not null, entries bigint not null, distinct_names bigint not null, imported_at timestamptz not null
);

-- The names by which recipes use imported catalogs.
create table catalog_names (
    name varchar primary key, catalog varchar not null, named_at timestamptz not null
);

-- The tools of an imported catalog, in its order.
create table catalog_tools (
    catalog varchar, position bigint, tool varchar not null, method varchar not null, path varchar not null,
    tags varchar[] not null, links json, declared_errors json, primary key (catalog, position)
);

-- What was odd in the files of a catalog, one row each.
create table catalog_problems (
    catalog varchar, position bigint, place varchar not null, tool varchar not null, kind varchar not null,
    message varchar not null, primary key (catalog, position)
);

-- A set of tools that was made in stages.
create table toolsets (
    key varchar primary key, body json not null, started_at timestamptz not null, finished_at timestamptz
);

-- Which tools came of a toolset, each of which draft.
create table made_tools (toolset varchar, tool varchar, draft varchar not null, primary key (toolset, tool));

-- What a model has thought up that people would give for parameters of which nothing tells the values.
create table value_pools (
    tool varchar, parameter varchar, model varchar, pool json not null, primary key (tool, parameter, model)
);

-- Builds

-- The stages of making and checking, in order.
create table stages (
    name varchar primary key, position integer not null, stage_group varchar not null, source varchar not null,
    role varchar, settles varchar[], is_left_to_readers boolean
);

-- What samples of a kind are like.
create table kinds (
    name varchar primary key, family varchar not null, paper varchar not null, calls varchar not null,
    asked varchar not null, has_results boolean not null, has_acts boolean not null, difficulty varchar not null,
    shift varchar not null, reviews varchar[] not null
);

-- The texts of prompts by their versions, as builds and evaluations have used them.
create table prompts (
    version varchar primary key, package varchar not null, name varchar not null, text varchar not null,
    used_at timestamptz not null
);

-- A build: all that one recipe with its tools has made.
create table builds (
    key varchar primary key, recipe varchar not null, run integer default 1, is_trial boolean default false,
    body json not null, started_at timestamptz not null, finished_at timestamptz, sequence bigint
);

-- Which tools a build could use.
create table build_tools (build varchar, tool varchar, primary key (build, tool));

-- Which samples a build made, each of which draft call.
create table build_samples (build varchar not null, sample varchar not null, draft varchar not null);

-- The version of each check that all of a build went through.
create table build_checks (
    build varchar, check_name varchar, version varchar not null, primary key (build, check_name)
);

-- What could not be planned of what a recipe asks for: so many samples of a kind, or a tool for a kind, and why.
create table left_out (
    build varchar, kind varchar, language varchar, place varchar, tool varchar, samples integer not null,
    reason varchar not null, primary key (build, kind, language, place, tool)
);

-- What became of a record at a stage of a build, and why.
create table outcomes (
    build varchar not null, stage varchar not null, subject varchar not null,
    outcome varchar not null check (outcome in ('passed', 'rejected', 'failed', 'waiting')),
    reason_code varchar not null check (reason_code in (
        'none', 'not_applicable', 'unproved', 'contradicted', 'error', 'duplicate', 'accepted', 'rejected', 'edited', 'taken'
    )),
    reason varchar not null, decided_by varchar not null check (decided_by in ('machine', 'person')),
    decided_who varchar not null, carried_from varchar not null, made_at timestamptz not null
);

-- A record that a stage could not carry on, with the error.
create table failures (
    key varchar primary key, build varchar not null, stage varchar not null, subject varchar not null,
    error varchar not null, reason varchar not null, made_at timestamptz not null
);

-- A request to a language model, and what it was about.
create table llm_calls (
    id varchar not null, request varchar not null, build varchar not null, stage varchar not null,
    subject varchar not null, release varchar not null, candidate varchar not null, strategy varchar default '',
    model varchar not null, prompt_version varchar not null, sample_index bigint not null,
    prompt_tokens bigint not null, completion_tokens bigint not null, cost double not null, latency double not null,
    cached boolean not null, planted varchar not null, error varchar not null, made_at timestamptz not null
);

-- Samples

-- What comes before a sample: assignment, parameter choice, draft call, plan, scenario; samples in a body stand by their keys.
create table drafts (
    key varchar not null, type varchar not null, body json not null, stage varchar not null,
    parents varchar[] not null, model varchar not null, prompt_version varchar not null, planted varchar not null
);

-- A sample: conversation, candidate tools and gold calls.
create table samples (
    key varchar not null, kind varchar not null, language varchar not null, category varchar not null,
    request varchar not null, gold json not null, call_turns integer, calls integer, body json not null,
    stage varchar not null, parents varchar[] not null, seed bigint not null, model varchar not null,
    prompt_version varchar not null, planted varchar not null
);

-- A sample that landed, and who vouches for it.
create table acceptances (
    subject varchar not null, build varchar not null, recipe varchar not null, grade varchar, judged_by varchar[],
    accepted_by varchar not null, decided_by varchar, accepted_at timestamptz not null, withdrawn_at timestamptz
);

-- Checks

-- A check's answer about a sample, with its evidence; a check that is run again adds a row.
create table verdicts (
    key varchar not null, subject varchar not null, check_name varchar not null, model varchar,
    version varchar not null, decision varchar not null check (decision in ('proved', 'unproved', 'contradicted')),
    grade varchar, score double, reason varchar not null, evidence json not null, open_arguments varchar[],
    doubts json, readings json, made_at timestamptz not null
);

-- What a reader made of a place of an accepted sample that was planted to measure it.
create table planted_readings (
    subject varchar, check_name varchar, reader varchar, turn integer not null, defect varchar not null,
    outcome varchar not null check (outcome in ('caught', 'missed', 'passed', 'falsely_doubted')),
    reason varchar not null, version varchar not null, made_at timestamptz not null,
    primary key (subject, check_name, reader)
);

-- Environments

-- What an environment answered to a call; a further version where it was asked again and answered otherwise.
create table responses (
    environment varchar, key varchar, version integer, tool varchar not null, call json not null, response json,
    problem varchar not null, recorded_at timestamptz not null, seen_at timestamptz not null,
    primary key (environment, key, version)
);

-- A call that an environment gave no answer of its own: no connection, no time, a page in place of JSON.
create table lapses (
    environment varchar, key varchar, problem varchar, call json not null, times integer not null,
    last_at timestamptz not null, primary key (environment, key, problem)
);

-- Reviews

-- What people are asked about: doubtful samples do not land before somebody has decided, spot checks hold nothing up.
create table review_requests (
    build varchar not null, subject varchar, kind varchar,
    cause varchar not null check (cause in ('doubtful', 'spot check', 'gold item', 'suspect', 'second look', 'audit')),
    reason varchar not null, against varchar, reviewers integer not null default 1,
    overlap integer not null default 1, priority double not null default 0.5, expected double,
    requested_at timestamptz not null, pushed_at timestamptz, server varchar, primary key (subject, kind)
);

-- A question that is asked again as a further version of its task.
create table review_rounds (
    subject varchar, kind varchar, version integer,
    cause varchar not null check (cause in ('returned edit', 'suspect', 'second look')), request varchar not null,
    calls varchar not null, problem varchar not null, against varchar, reviewer varchar not null,
    priority double not null default 0.9, expected double, made_at timestamptz not null, pushed_at timestamptz,
    server varchar, primary key (subject, kind, version)
);

-- What somebody decided in Label Studio, when, why, in how many seconds.
create table reviews (
    key varchar primary key, subject varchar not null, kind varchar not null, decision varchar not null,
    reviewer varchar not null, reviewed_at timestamptz not null, reasons varchar[] not null, comment varchar not null,
    seconds double not null, result varchar, answer varchar, carried_from varchar, annotation_id bigint not null,
    task_id bigint not null, server varchar not null, withdrawn_at timestamptz
);

-- A task as Label Studio had it when it was last looked at.
create table task_states (
    server varchar, task_id bigint, kind varchar not null, subject varchar not null, version integer not null,
    annotations integer not null, skipped integer not null, drafts integer not null, seen_at timestamptz not null,
    deleted_at timestamptz, primary key (server, task_id)
);

-- How far the answers of a Label Studio have been fetched.
create table review_cursors (
    server varchar, kind varchar, pulled_until timestamptz not null, primary key (server, kind)
);

-- A question whose right answer is known, to see how well people review.
create table gold_items (
    subject varchar, kind varchar, expected varchar not null check (expected in ('accept', 'reject')), answer varchar,
    defect varchar not null, made_of varchar not null, made_at timestamptz not null, primary key (subject, kind)
);

-- How far reviewers agree by a measure, over all or on a slice.
create table agreement (
    kind varchar, measure varchar, slice_by varchar, slice_value varchar, value double, items bigint not null,
    reviewers bigint not null, computed_at timestamptz not null, primary key (kind, measure, slice_by, slice_value)
);

-- What each sort of doubt weighs for the order of questions, fitted to people's answers.
create table sort_weights (
    sort varchar primary key, weight double not null, fitted_on bigint not null, fitted_at timestamptz not null
);

-- An answer that was drawn so that people say whether the metric is right about it.
create table audit_draws (
    prediction varchar primary key, release varchar not null, candidate varchar not null, error_type varchar not null,
    drawn_at timestamptz not null
);

-- Releases

-- A frozen set of samples under a name.
create table releases (
    name varchar primary key, version varchar, follows varchar, selection json, splits json, key varchar not null,
    content_hash varchar not null, samples bigint not null, manifest_hash varchar, note varchar not null,
    created_at timestamptz not null
);

-- The samples of a release, each with the hash of its row as it was frozen and the split that it stands in.
create table release_samples (
    release varchar not null, subject varchar not null, split varchar, split_group varchar, row_hash varchar
);

-- The tools of a release, each with the hash of its row as it was frozen.
create table release_tools (release varchar not null, tool varchar not null, row_hash varchar);

-- Samples of a release in different splits whose requests are nearly the same.
create table release_duplicates (
    release varchar not null, subject varchar not null, split varchar not null, other varchar not null,
    other_split varchar not null, likeness double not null
);

-- Evaluations

-- An evaluation as it was asked for; one without an end can be taken up (evaluate --resume).
create table evaluations (
    key varchar primary key, release varchar not null, candidates json not null, conditions json not null,
    started_at timestamptz not null, finished_at timestamptz
);

-- Who was evaluated on a release: a label with what it was asked with; other settings are another row.
create table candidate_settings (
    release varchar, candidate varchar, label varchar not null, settings varchar not null, model varchar not null,
    options json not null, prompts varchar not null, conditions json not null, code_version varchar not null,
    first_asked_at timestamptz not null, primary key (release, candidate)
);

-- What a candidate answered at a snapshot.
create table predictions (
    key varchar primary key, release varchar not null, subject varchar not null, turn integer not null,
    candidate varchar not null, strategy varchar not null,
    tools_shown varchar not null check (tools_shown in ('first', 'always')), run integer not null,
    text varchar not null, reasoning varchar default '', calls json, problem varchar not null,
    settings varchar not null, error_type varchar, matched varchar, made_at timestamptz not null,
    unique (release, subject, turn, candidate, strategy, tools_shown, run)
);

-- Whether a judge finds that a prediction means what the gold call means.
create table judge_verdicts (
    key varchar primary key, prediction varchar not null, judge varchar not null, agree boolean not null,
    reason varchar not null, version varchar not null, made_at timestamptz not null
);

-- A judge's graded word on a prediction: value out of count.
create table grades (
    key varchar primary key, prediction varchar not null, judge varchar not null,
    metric varchar not null check (metric in ('judge_score', 'parameter_validity')), value double not null,
    count integer not null, reason varchar not null, version varchar not null, made_at timestamptz not null
);

-- A candidate's run over a multi-step sample, to its end.
create table multi_step_runs (
    key varchar primary key, release varchar not null, subject varchar not null, candidate varchar not null,
    strategy varchar not null, mode varchar not null check (mode in ('as_paper', 'as_published_code')),
    run integer not null, judge varchar not null, settings varchar not null, success boolean not null,
    correct_calls integer not null, total_calls integer not null, steps integer not null, shortest integer not null,
    turns integer not null, error_type varchar not null, error_parameter varchar not null,
    parameter_type varchar not null, completeness integer, correctness integer, needless_changes integer,
    end_reached boolean, untold integer, opening varchar default '', user_turns integer, user_wordings integer,
    user_refused integer, user_errors integer, fault varchar, obeyed boolean, policy varchar, policy_sort varchar,
    violated boolean, refused boolean, messages json not null, made_at timestamptz not null,
    unique (release, subject, candidate, strategy, mode, run, judge)
);

-- What was wrong with one call of a multi-step run, whether the candidate recovered or not.
create table call_errors (
    key varchar primary key, run varchar not null, turn integer not null, call integer not null,
    tool varchar not null, error_type varchar not null, parameter varchar not null, parameter_type varchar not null,
    reason varchar not null
);

-- How many arguments of a type the gold calls of a multi-step run have, and how many the candidate got wrong.
create table parameter_counts (
    run varchar, parameter_type varchar, due integer not null, wrong integer not null,
    primary key (run, parameter_type)
);

-- One metric of one candidate on one slice of a release.
create table scores (
    release varchar, split varchar, candidate varchar, strategy varchar,
    tools_shown varchar check (tools_shown in ('first', 'always')), run integer, judge varchar,
    snapshots varchar check (snapshots in ('all', 'first', 'last', 'shift')), metric varchar, slice_by varchar,
    slice_value varchar, value double not null, count bigint not null, low double, high double, as_published boolean,
    primary key (release, split, candidate, strategy, tools_shown, run, judge, snapshots, metric, slice_by, slice_value)
);

-- A tool that candidates were shown under other names or words than the release has (evaluate --tools).
create table tool_changes (
    release varchar, strategy varchar, plain_strategy varchar not null, tool_key varchar, tool varchar not null,
    language varchar not null, shown_name varchar not null, changed varchar[] not null, words json not null,
    shown json not null, changes varchar not null, name varchar not null, first_asked_at timestamptz not null,
    primary key (release, strategy, tool_key)
);

-- Between what the difference lies that changed tools make to a metric, with 95 % confidence (paired, a bootstrap over samples).
create table tool_change_intervals (
    release varchar, split varchar, candidate varchar, strategy varchar, tools_shown varchar, metric varchar,
    low double not null, high double not null, primary key (release, split, candidate, strategy, tools_shown, metric)
);

-- Audits of the checks

-- A measurement of the checks (callwright audit checks).
create table audits (
    key varchar primary key, source varchar not null, model varchar not null, seed bigint not null,
    per_kind bigint not null, made_at timestamptz not null
);

-- A sample in an audit, as it was or with a defect put in, and what becomes of it.
create table audit_cases (
    audit varchar, subject varchar, defect varchar, is_broken boolean not null, kind varchar not null,
    language varchar not null, decision varchar not null, primary key (audit, subject, defect)
);

-- What each check says of a case of an audit.
create table audit_verdicts (
    audit varchar, subject varchar, defect varchar, check_name varchar, decision varchar not null,
    grade varchar not null, reason varchar not null, primary key (audit, subject, defect, check_name)
);

-- How each argument stands in an audit: all of an intact sample, of a broken one those that the defect made wrong.
create table audit_arguments (
    audit varchar, subject varchar, defect varchar, argument varchar, is_wrong boolean not null,
    grade varchar not null, primary key (audit, subject, defect, argument)
);

-- Audits of data sets

-- An audit of a data set's gold (callwright audit data).
create table data_audits (
    key varchar primary key, contents varchar not null, name varchar not null, source varchar not null,
    format varchar not null, model varchar not null, started_at timestamptz not null, ended_at timestamptz,
    n_records bigint not null, n_unreadable bigint not null
);

-- What speaks against the gold of a data set, by place.
create table findings (
    audit varchar not null, position bigint not null, key varchar not null, item varchar not null,
    place varchar not null, line bigint not null, severity varchar not null, sort varchar not null,
    reason varchar not null, turn bigint not null, call bigint not null, tool varchar not null,
    argument varchar not null, request varchar not null, words varchar not null, document varchar not null, gold json,
    expected json, support bigint not null
);

-- What a person said about a finding.
create table finding_judgements (
    audit varchar, finding varchar, verdict varchar not null, person varchar, note varchar not null,
    judged_at timestamptz, primary key (audit, finding, person, judged_at)
);

-- Schedules

-- A run of a recipe's schedule: what it built, how the tools had changed since the run before, and the release that was made of it
-- and those before.
create table scheduled_runs (
    recipe varchar, run integer, due_at timestamptz not null, began_at timestamptz not null, ended_at timestamptz,
    build varchar not null, tool_changes json not null, release varchar not null, evaluated_at timestamptz,
    primary key (recipe, run)
);

-- This file

-- The migrations that were applied to this file, and the version of its views.
create table migrations (name varchar primary key, made_at timestamptz default now());
