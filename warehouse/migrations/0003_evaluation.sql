-- Predictions know which tools the model was shown and with which settings it was asked; scores which snapshots and whose
-- verdicts they are of. Until now every candidate tool was shown at every snapshot, and all snapshots were scored by rule.
create table earlier_predictions as select * from predictions;
drop table predictions;
create table predictions (
    key varchar primary key, release varchar not null, subject varchar not null, turn integer not null, model varchar not null,
    strategy varchar not null, tools_shown varchar not null check (tools_shown in ('first', 'always')), run integer not null,
    text varchar not null, calls json, problem varchar not null, settings varchar not null,
    error_type varchar not null default '', made_at timestamptz not null,
    unique (release, subject, turn, model, strategy, tools_shown, run)
);
insert into predictions by name select *, 'always' as tools_shown, '' as settings from earlier_predictions;
drop table earlier_predictions;

create table earlier_scores as select * from scores;
drop table scores;
create table scores (
    release varchar not null, model varchar not null, strategy varchar not null,
    tools_shown varchar not null check (tools_shown in ('first', 'always')), run integer not null, judge varchar not null,
    snapshots varchar not null check (snapshots in ('all', 'first', 'last', 'shift')), metric varchar not null,
    slice_by varchar not null, slice_value varchar not null, value double not null, count bigint not null,
    primary key (release, model, strategy, tools_shown, run, judge, snapshots, metric, slice_by, slice_value)
);
insert into scores by name select *, 'always' as tools_shown, '' as judge, 'all' as snapshots from earlier_scores;
drop table earlier_scores;

-- Whether a judge finds that a prediction does what the gold call does; asked where tool and parameter names are right.
create table judge_verdicts (
    key varchar primary key, prediction varchar not null, judge varchar not null, agree boolean not null,
    reason varchar not null, version varchar not null, made_at timestamptz not null
);
