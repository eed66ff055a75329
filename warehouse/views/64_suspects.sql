-- The family of models that a model belongs to, by its name: the letters that its name begins with, without who serves it
-- (`openai/gpt-6-sol` and `azure/gpt-6-luna` are of one). Models of a family learned from the same texts and err alike. What nobody
-- serves, as a function of one's own, is a family by itself.
create or replace macro model_family(model) as case
    when starts_with(model, 'template/') then 'template' when not contains(model, '/') then model
    else lower(coalesce(nullif(regexp_extract(split_part(model, '/', -1), '^[^\d\W_]+'), ''), model)) end;

-- Samples of a release whose gold may be wrong, by what candidates answer: at a snapshot all of them fail, or several give one and
-- the same answer that is not the gold, and no fewer than are right. Only independent candidates count: one model with other prompts
-- or settings, and all models of a family (see `model_family`), are one, which fails where all of these do in all of their runs. A
-- judge who finds an answer right is believed. Of each sample the snapshot that says most: `turn` is its
-- place in the sample, null for a multi-step sample, whose runs are right or wrong as wholes. Two independent candidates at least are
-- needed, with answers that are scored. `has_landed` is false for published samples, and for those that somebody took back.
create or replace view suspects as
with families as (
    select release, candidate, model_family(coalesce(nullif(model, ''), candidate)) as family from candidate_settings
), answered as (
    select
        p.release, p.subject, p.turn, coalesce(f.family, p.candidate) as family, p.error_type, p.calls,
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
    left join families f using (release, candidate)
), independent as (
    select release, subject, turn, family, bool_and(fails) as fails, min(error_type) filter (fails) as error_type
    from answered group by all
    union all
    select r.release, r.subject, null, coalesce(f.family, r.candidate), not bool_or(r.success), min(r.error_type) filter (not r.success)
    from multi_step_runs r left join families f using (release, candidate) group by all
), counted as (
    select release, subject, turn, count(*) as n_candidates, count(*) filter (fails) as n_failing
    from independent group by all
), errors as (
    select release, subject, turn, coalesce(nullif(replace(error_type, '_', ' '), ''), 'no success') as error, count(*) as failing
    from independent where fails group by all
), told as (
    select release, subject, turn, string_agg(error || ' ×' || failing, ', ' order by failing desc, error) as errors
    from errors group by all
), alike as (
    select release, subject, turn, answer, count(distinct family) as n_agreeing, min(calls::varchar)::json as calls
    from answered where fails and answer <> '' group by release, subject, turn, answer
    qualify row_number() over (partition by release, subject, turn order by n_agreeing desc, answer) = 1
), seen as (
    select
        c.*, coalesce(t.errors, '') as errors, a.n_agreeing, a.answer, a.calls,
        coalesce(a.n_agreeing > 1 and a.n_agreeing >= c.n_candidates - c.n_failing, false) as is_agreed
    from counted c
    left join told t on t.release = c.release and t.subject = c.subject and t.turn is not distinct from c.turn
    left join alike a on a.release = c.release and a.subject = c.subject and a.turn = c.turn
)
select
    release, subject, turn, n_candidates, n_failing, errors, case when is_agreed then n_agreeing else 0 end as n_agreeing,
    case when is_agreed then answer else '' end as answer, case when is_agreed then calls else null end as calls,
    exists (select 1 from acceptances l where l.subject = seen.subject and l.withdrawn_at is null) as has_landed
from seen where n_candidates > 1 and (n_failing = n_candidates or is_agreed)
qualify row_number() over (
    partition by release, subject
    order by case when is_agreed then n_agreeing else 0 end / n_candidates desc, n_failing / n_candidates desc, turn
) = 1;
