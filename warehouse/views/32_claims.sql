-- What each sample claims, a row a claim: each argument of its gold, and the deed, nothing_else, no_call_missing and, where there
-- are any, replies and message (see sample_grades).
-- `grade` is proved (`settled_by` has the check, `rule` how the words of an argument mean the value), judged (`settled_by` has the
-- models that read it blind), vouched (`settled_by` has the person) or open. What has a model of its own for a witness is open.
create or replace view claims as
with persons as (
    select subject, accepted_by from acceptances where grade = 'vouched' and withdrawn_at is null
), grounded as (
    select subject, evidence, open_arguments from all_newest_verdicts where check_name = 'grounding'
), rules as (
    select name, settles, (row_number() over (order by position, name) - 1)::utinyint as place from stages where len(settles) > 0
), witnesses as (
    select v.subject, bit_or(1::ubigint << r.place) as checks
    from verdicts v join rules r on r.name = v.check_name where v.grade = 'proved' group by v.subject
), named as (
    select w.checks, r.claim, string_agg(r.name, ', ' order by r.name) as names
    from (select distinct checks from witnesses) w join (select name, place, unnest(settles) as claim from rules) r
        on (w.checks >> r.place) & 1 = 1
    group by all
), found as (
    select subject, 'argument' as claim, e ->> 'argument' as argument,
        coalesce(nullif(e ->> 'rule', ''), case when e ->> 'kind' = 'span' then 'word for word' else e ->> 'kind' end) as rule, 'proved' as grade
    from grounded, unnest(json_extract(evidence, '$[*]')) as proofs(e)
    union all
    select g.subject, 'argument', unnest(g.open_arguments), '',
        case when list_contains(s.proved_claims || s.open_claims, 'arguments') then 'open' else 'judged' end
    from grounded g join sample_grades s on s.subject = g.subject
    union all
    select subject, c.claim, '', '', case
        when list_contains(proved_claims, c.claim) then 'proved' when list_contains(open_claims, c.claim) then 'open' else 'judged' end
    from sample_grades, unnest(list_filter(claims, lambda one: one <> 'arguments')) as c(claim)
)
select f.subject, f.claim, f.argument, f.rule,
    case when f.grade = 'open' and p.subject is not null then 'vouched' else f.grade end as grade,
    case f.grade
        when 'proved' then case when f.claim = 'argument' then 'grounding' else n.names end
        when 'judged' then array_to_string(g.models, ', ')
        else coalesce(p.accepted_by, '') end as settled_by
from found f
semi join samples s on s.key = f.subject
join sample_grades g on g.subject = f.subject
left join witnesses w on w.subject = f.subject
left join named n on n.checks = w.checks and n.claim = f.claim
left join persons p on p.subject = f.subject;
