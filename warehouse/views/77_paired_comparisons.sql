-- Each pair of candidates of a release, and of strategies by which one candidate was asked, over the samples that both answered
-- (the first run of each), over each split and ('') all of it, over all kinds ('all') and by kind: how many samples both, only
-- one, and neither passes (see sample_results). `difference` is the share that `candidate` passes minus that of `other`
-- (paired; `low` and `high`: 95 %, Wald); `p_value` is McNemar's exact test.
create or replace view paired_comparisons as
with firsts as (
    select * from sample_results where run = 0
), pairs as (
    select
        a.release, unnest(list_distinct(['', coalesce(a.split, '')])) as split, a.tools_shown, a.mode, a.judge, a.candidate, a.strategy,
        b.candidate as other, b.strategy as other_strategy, a.sample, a.is_passed as passed, b.is_passed as other_passed
    from firsts a join firsts b using (release, tools_shown, mode, judge, sample)
    where (a.candidate, a.strategy) < (b.candidate, b.strategy)
), kinds_of as (
    select p.*, unnest([s.kind, 'all']) as kind from pairs p join (select key, kind from samples) s on s.key = p.sample
), counted as (
    select
        release, split, tools_shown, mode, judge, candidate, strategy, other, other_strategy, kind, count(*) as samples,
        count(*) filter (passed and other_passed) as both_pass, count(*) filter (passed and not other_passed) as only_candidate,
        count(*) filter (not passed and other_passed) as only_other, count(*) filter (not passed and not other_passed) as neither_passes
    from kinds_of group by all
), tested as (
    select *, (only_candidate - only_other) / samples as difference, paired_half(only_candidate, only_other, samples) as half from counted
)
select
    release, split, tools_shown, mode, judge, candidate, strategy, other, other_strategy, kind, samples as n_samples, both_pass as n_both,
    only_candidate as n_only_candidate, only_other as n_only_other, neither_passes as n_neither, difference, difference - half as low, difference + half as high,
    paired_p_value(only_candidate, only_other) as p_value
from tested order by release, split, tools_shown, mode, judge, candidate, strategy, other, other_strategy, kind <> 'all', kind;

-- The samples of a release that all of its candidates fail in every run, asked in whatever way, with its split (null
-- without splits) and by which errors: too hard, or with wrong gold (see suspects). Two candidates at least.
create or replace view failed_by_all as
with by_candidate as (
    select release, sample, candidate, bool_or(is_passed) as passes from sample_results group by all
), failed as (
    select release, sample, count(*) as candidates from by_candidate group by all having count(*) > 1 and not bool_or(passes)
), errors as (
    select release, subject as sample, error_type from predictions where error_type <> ''
    union all
    select release, subject, error_type from multi_step_runs where not success
)
select f.release, m.split, f.sample, s.kind, s.language, s.category, s.request, f.candidates as n_candidates, (
    select histogram(e.error_type) from errors e where e.release = f.release and e.sample = f.sample
) as error_types
from failed f join samples s on s.key = f.sample left join release_samples m on m.release = f.release and m.subject = f.sample
order by f.release, s.kind, f.sample;
