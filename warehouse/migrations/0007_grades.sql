-- A judge's graded word on a prediction: `value` out of `count`. The score of a plan is from 0 to 1, out of 1; of a call's
-- parameters as many are valid out of as many as there are. A `count` of 0 is a reply that could not be read.
create table grades (
    key varchar primary key, prediction varchar not null, judge varchar not null,
    metric varchar not null check (metric in ('judge_score', 'parameter_validity')), value double not null,
    count integer not null, reason varchar not null, version varchar not null, made_at timestamptz not null
);
