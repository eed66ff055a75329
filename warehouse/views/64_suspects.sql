-- Samples of a release whose gold may be wrong, by what candidates answer: at a snapshot all of them fail, or several give one and
-- the same answer that is not the gold, and no fewer than are right. A candidate counts once, however many runs it has, and fails
-- where all of these do; a judge who finds an answer right is believed. Of each sample the snapshot that says most: `turn` is its
-- place in the sample, null for a multi-step sample, whose runs are right or wrong as wholes. Two candidates at least are needed,
-- with answers that are scored. `has_landed` is false for published samples, and for those that somebody took back.
create or replace view suspects as
with answered as (
    select
        p.release, p.subject, p.turn, p.candidate, p.error_type, p.calls,
        p.error_type <> '' and not exists (select 1 from judge_verdicts v where v.prediction = p.key and v.agree) as fails,
        -- The calls as one line that is the same for the same calls: in order, by small letters, without what says nothing.
        array_to_string(list_sort(list_transform(
            cast(json_extract(p.calls, '$[*]') as json[]),
            lambda made: (made ->> 'tool') || '(' || array_to_string(list_sort(list_transform(
                list_filter(
                    coalesce(map_entries(json_fields(made -> 'arguments')), []),
                    lambda given: coalesce(trim(given.value ->> '$'), 'null') not in ('', '\')
                ),
                lambda given: given.key || '=' || lower(coalesce(trim(given.value ->> '$'), 'null'))
            )), ', ') || ')'
        )), '; ') as answer
    from predictions p
    join (select distinct release, candidate, strategy, tools_shown, run from scores)
        using (release, candidate, strategy, tools_shown, run)
), by_candidate as (
    select release, subject, turn, candidate, bool_and(fails) as fails, min(error_type) filter (fails) as error_type
    from answered group by all
    union all
    select release, subject, null, candidate, not bool_or(success), min(error_type) filter (not success)
    from multi_step_runs group by all
), counted as (
    select release, subject, turn, count(*) as candidates, count(*) filter (fails) as failing
    from by_candidate group by all
), errors as (
    select release, subject, turn, coalesce(nullif(replace(error_type, '_', ' '), ''), 'no success') as error, count(*) as failing
    from by_candidate where fails group by all
), told as (
    select release, subject, turn, string_agg(error || ' ×' || failing, ', ' order by failing desc, error) as errors
    from errors group by all
), alike as (
    select release, subject, turn, answer, count(distinct candidate) as agreeing, min(calls::varchar)::json as calls
    from answered where fails and answer <> '' group by release, subject, turn, answer
    qualify row_number() over (partition by release, subject, turn order by agreeing desc, answer) = 1
), seen as (
    select
        c.*, coalesce(t.errors, '') as errors, a.agreeing, a.answer, a.calls,
        coalesce(a.agreeing > 1 and a.agreeing >= c.candidates - c.failing, false) as is_agreed
    from counted c
    left join told t on t.release = c.release and t.subject = c.subject and t.turn is not distinct from c.turn
    left join alike a on a.release = c.release and a.subject = c.subject and a.turn = c.turn
)
select
    release, subject, turn, candidates, failing, errors, case when is_agreed then agreeing else 0 end as agreeing,
    case when is_agreed then answer else '' end as answer, case when is_agreed then calls else null end as calls,
    exists (select 1 from acceptances l where l.subject = seen.subject and l.withdrawn_at is null) as has_landed
from seen where candidates > 1 and (failing = candidates or is_agreed)
qualify row_number() over (
    partition by release, subject
    order by case when is_agreed then agreeing else 0 end / candidates desc, failing / candidates desc, turn
) = 1;
