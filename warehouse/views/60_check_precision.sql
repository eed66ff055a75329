-- How each check fared on samples of which it is known whether they are bad: `caught_share` is the share of the bad ones it did
-- not prove, `alarm_share` that of the good ones, `n_caught_first` the number of bad ones that no check before it had
-- doubted. A check judges only what those before it did not contradict, so shares of different checks are of different
-- samples. What a person decided counts before what was planted. A defect planted in the words of a request leaves a gold
-- of no call as right as it was, except where it asks for something else: that may be what a candidate does. Dialogue acts
-- are judged by no check. `precision` is the share of the good ones among those that the check proved.
-- Of `n_planted` readings, which measure a reader of the build, it caught `planted_caught_share` of the defects and doubted `planted_alarm_share` of
-- the golds as they are (see reader_precision).
-- The rows of the stage `land` are the grades of what landed without people, those of template models apart: `n_samples` landed, people
-- looked at `n_judged` of them that were drawn at random, and found `n_bad` bad ones; `precision` is null where nobody looked: not measured.
create or replace view check_precision as
with persons as (
    select subject, bool_or(decision <> 'accept') as is_bad from decisions where kind <> 'dialogue_acts' group by subject
), truth as (
    select s.key, coalesce(p.is_bad, s.planted <> '' and json_array_length(s.gold) > 0) as is_bad
    from samples s left join persons p on p.subject = s.key
    where p.is_bad is not null
        or (s.model like 'template/%' and (s.planted <> 'wrong_tool' or json_array_length(s.gold) > 0))
), judged as not materialized (
    select v.subject, v.check_name, t.is_bad, v.decision <> 'proved' as is_doubted from all_newest_verdicts v join truth t on t.key = v.subject
), firsts as (
    select check_name, count(*) as n_caught_first from (
        select j.subject, arg_min(j.check_name, coalesce(s.position, 32767)) as check_name
        from judged j left join stages s on s.name = j.check_name where j.is_bad and j.is_doubted group by j.subject
    ) group by check_name
), measured as (
    select check_name, count(*) as n_planted, count(*) filter (outcome = 'caught') / nullif(count(*) filter (defect <> ''), 0) as planted_caught_share,
        count(*) filter (outcome = 'falsely_doubted') / nullif(count(*) filter (defect = ''), 0) as planted_alarm_share
    from planted_readings where subject not in (select subject from persons where is_bad) group by check_name
), counted as (
    select
        check_name, '' as grade, null::boolean as is_template, count(*) as n_samples, count(*) as n_judged, count(*) filter (is_bad) as n_bad,
        count(*) filter (not is_bad and not is_doubted) / nullif(count(*) filter (not is_doubted), 0) as precision,
        count(*) filter (is_bad and is_doubted) / nullif(count(*) filter (is_bad), 0) as caught_share,
        count(*) filter (not is_bad and is_doubted) / nullif(count(*) filter (not is_bad), 0) as alarm_share,
        coalesce(any_value(f.n_caught_first), 0) as n_caught_first
    from judged left join firsts f using (check_name) group by check_name
)
select check_name, coalesce(grade, '') as grade, is_template, coalesce(n_samples, 0) as n_samples, coalesce(n_judged, 0) as n_judged,
    coalesce(n_bad, 0) as n_bad, precision, caught_share, alarm_share, coalesce(n_caught_first, 0) as n_caught_first,
    coalesce(n_planted, 0) as n_planted, planted_caught_share, planted_alarm_share
from counted full join measured using (check_name)
union all
select
    'land', grade, of_template, count(*), count(is_good), count(*) filter (not is_good),
    count(*) filter (is_good) / nullif(count(is_good), 0), null, null, null, null, null, null
from grade_reviews group by all
order by check_name, grade, is_template;
