-- Scores know over which split of the release they are ('' is all of it), calls of an evaluation by which strategy a candidate was asked.
create table scores_of_splits (
    release varchar not null, split varchar not null, candidate varchar not null, strategy varchar not null,
    tools_shown varchar not null check (tools_shown in ('first', 'always')), run integer not null, judge varchar not null,
    snapshots varchar not null check (snapshots in ('all', 'first', 'last', 'shift')), metric varchar not null,
    slice_by varchar not null, slice_value varchar not null, value double not null, count bigint not null, low double, high double,
    primary key (release, split, candidate, strategy, tools_shown, run, judge, snapshots, metric, slice_by, slice_value)
);
insert into scores_of_splits by name select *, '' as split from scores;
drop table scores;
alter table scores_of_splits rename to scores;

alter table llm_calls add column strategy varchar default '';
update llm_calls set strategy = asked.strategy
from (
    select release, candidate, any_value(strategy) as strategy
    from (select release, candidate, strategy from predictions union select release, candidate, strategy from multi_step_runs)
    group by release, candidate having count(distinct strategy) = 1
) asked
where llm_calls.candidate <> '' and llm_calls.release = asked.release and llm_calls.candidate = asked.candidate;
