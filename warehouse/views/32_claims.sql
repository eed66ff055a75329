-- What each sample claims, a row a claim: each argument of its gold, and the deed, nothing_else, no_call_missing and, where there
-- are any, replies and message (see sample_grades).
-- `grade` is proved (`settled_by` has the check), judged (`settled_by` has the models that read it blind), vouched (`settled_by` has
-- the person) or open. What has a model of its own for a witness is open. `standing` tells what was found of an argument's value: it
-- is said (`rule` has how the words mean the value), derived (`rule` has from what) or not_said; "" for the other claims.
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
), graded as (
    select subject, c.claim, case
        when list_contains(proved_claims, c.claim) then 'proved' when list_contains(open_claims, c.claim) then 'open' else 'judged' end as grade
    from sample_grades, unnest(claims) as c(claim)
), stood as (
    select subject, e ->> 'argument' as argument,
        coalesce(nullif(rule_words(e -> 'rule'), ''), case when e ->> 'kind' = 'span' then 'word for word' else e ->> 'kind' end) as rule,
        case when e ->> 'kind' in ('span', 'normalised') then 'said' else 'derived' end as standing
    from grounded, unnest(json_extract(evidence, '$[*]')) as found(e)
    union all
    select subject, unnest(open_arguments), '', 'not_said' from grounded
), found as (
    select s.subject, 'argument' as claim, s.argument, s.rule, s.standing, g.grade
    from stood s join graded g on g.subject = s.subject and g.claim = 'arguments'
    union all
    select subject, claim, '', '', '', grade from graded where claim <> 'arguments'
)
select f.subject, f.claim, f.argument, f.rule,
    case when f.grade = 'open' and p.subject is not null then 'vouched' else f.grade end as grade,
    case f.grade
        when 'proved' then n.names
        when 'judged' then array_to_string(g.models, ', ')
        else coalesce(p.accepted_by, '') end as settled_by,
    f.standing
from found f
semi join samples s on s.key = f.subject
join sample_grades g on g.subject = f.subject
left join witnesses w on w.subject = f.subject
left join named n on n.checks = w.checks and n.claim = case f.claim when 'argument' then 'arguments' else f.claim end
left join persons p on p.subject = f.subject;
