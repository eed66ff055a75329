-- What each sample rests on, by the newest verdict of each check: `proved` if rules settle every claim about it, `judged` if a
-- model that did not make it settles the rest, else `open`. The claims: each argument means what was said, the call is the deed
-- asked for, nothing else is asked, no call is missing, and, if a check looks at them, replies state what results say and a
-- message is the one pointed to; `rules` says that the calls keep what the document states in prose and callwright does not read,
-- which no template settles. `stages.settles` lists the claims that each check settles. A doubt that no reading can settle,
-- or of a blind reading, leaves the sample open.
create or replace view sample_grades as
with claims as (
    select name, role, is_left_to_readers,
        coalesce(list_sum(list_transform(settles, lambda one: 1 << (
            list_position(['arguments', 'deed', 'nothing_else', 'no_call_missing', 'replies', 'message', 'rules'], one) - 1
        ))), 0)::utinyint as mask
    from stages where stage_group <> 'landing'
), settled as (
    select n.subject,
        bool_or(n.decision = 'contradicted' or (n.decision = 'unproved' and not c.is_left_to_readers)) as is_doubted,
        bit_or(case when c.role = '' then c.mask else c.mask & 63::utinyint end) | case when bool_or(n.check_name = 'grounding') then 15 else 14 end::utinyint as claimed,
        bit_or(case when n.grade = 'proved' then c.mask else 0::utinyint end) & ~bit_or(case when c.role = '' and n.grade <> 'proved' then c.mask else 0::utinyint end) as by_rules,
        bit_or(case when n.grade <> 'judged' then 0::utinyint when starts_with(n.model, 'template/') then c.mask & 63::utinyint else c.mask end) as by_models,
        coalesce(list_sort(list_distinct(list(n.model) filter (n.grade = 'judged' and c.mask > 0))), []) as models
    from all_newest_verdicts n join claims c on c.name = n.check_name group by n.subject
)
select subject,
    case when is_doubted then 'open' when by_rules = claimed then 'proved' when (by_rules | by_models) & claimed = claimed then 'judged' else 'open' end as grade,
    models,
    list_filter(['arguments', 'deed', 'nothing_else', 'no_call_missing', 'replies', 'message', 'rules'], lambda one, place: (by_rules >> (place - 1)) & 1 = 1) as proved_claims,
    list_filter(['arguments', 'deed', 'nothing_else', 'no_call_missing', 'replies', 'message', 'rules'], lambda one, place: ((claimed & ~(by_rules | by_models)) >> (place - 1)) & 1 = 1) as open_claims,
    list_filter(['arguments', 'deed', 'nothing_else', 'no_call_missing', 'replies', 'message', 'rules'], lambda one, place: (claimed >> (place - 1)) & 1 = 1) as claims
from settled;
