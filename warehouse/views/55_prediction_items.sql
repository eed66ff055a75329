-- What each candidate answered, beside what was due: one row per snapshot, or per run over a multi-step sample (`turn` is
-- null). Slow over everything: ask for a release, a candidate or a sample.
create or replace view prediction_items as
with turns as (
    select
        p.*, s.kind, s.language, s.category, s.call_turns as n_snapshots,
        cast(json_extract(s.body, '$.turns[*].kind') as varchar[])[:p.turn + 1] as kinds_so_far,
        json_extract(s.body, '$.turns[' || p.turn || ']') as due_turn
    from predictions p join samples s on s.key = p.subject
), agreements as (
    select prediction, bool_or(agree) as agrees
    from (select prediction, judge, arg_max(agree, made_at) as agree from judge_verdicts group by all) group by prediction
)
select
    t.release, t.candidate, coalesce(c.label, t.candidate) as label, t.strategy, t.tools_shown, t.run, '' as mode, '' as judge,
    t.subject as sample, t.kind, k.family, k.asked, t.language, t.category, t.turn,
    case when t.due_turn ->> 'kind' = 'calls' then len(list_filter(t.kinds_so_far, lambda one: one = '"calls"')) else null end as snapshot, t.n_snapshots,
    case when t.due_turn ->> 'kind' = 'calls' then to_json(list_transform(
        json_extract(t.due_turn, '$.calls[*]'), lambda due: {'tool': due ->> 'tool', 'arguments': due -> 'arguments'}
    )) else null end as due,
    t.calls, t.text, t.problem,
    case when t.error_type is null then null else t.error_type = '' end as is_right, nullif(t.error_type, '') as error_type, nullif(t.matched, '') as matched,
    a.agrees as is_right_by_judge, t.key as prediction, t.made_at
from turns t
left join kinds k on k.name = t.kind
left join candidate_settings c on c.release = t.release and c.candidate = t.candidate
left join agreements a on a.prediction = t.key
union all
select
    r.release, r.candidate, coalesce(c.label, r.candidate), r.strategy, 'first', r.run, r.mode, r.judge,
    r.subject, s.kind, k.family, k.asked, s.language, s.category, null, null, s.call_turns,
    to_json(list_transform(
        json_extract(s.body, '$.turns[*].calls[*]'), lambda due: {'tool': due ->> 'tool', 'arguments': due -> 'arguments'}
    )),
    to_json(list_transform(
        json_extract(r.messages, '$[*].calls[*]'), lambda made: {'tool': made ->> 'tool', 'arguments': made -> 'arguments'}
    )),
    coalesce(r.messages ->> '$[#-1].text', ''), '', r.success, nullif(r.error_type, ''), null, null, r.key, r.made_at
from multi_step_runs r
join samples s on s.key = r.subject
left join kinds k on k.name = s.kind
left join candidate_settings c on c.release = r.release and c.candidate = r.candidate;
