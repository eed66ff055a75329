-- Where reviewers and readers disagree, and on what: a row a reviewer, reader (the check reading), language and kind of
-- sample. `n_both_right`: the reader chose the gold alone and the reviewer accepted it; `n_missed`: they turned away what it chose; `n_doubted`: it
-- doubted what they accepted; `n_both_doubt`: neither takes it. `reasons` are those for what the reader missed. Gold items are left out.
create or replace view reviewers_and_readers as
select
    r.reviewer, v.model as reader, s.language, s.kind, count(*) as n_samples,
    count(*) filter (v.decision = 'proved' and r.decision = 'accept') as n_both_right,
    count(*) filter (v.decision = 'proved' and r.decision <> 'accept') as n_missed,
    count(*) filter (v.decision <> 'proved' and r.decision = 'accept') as n_doubted,
    count(*) filter (v.decision <> 'proved' and r.decision <> 'accept') as n_both_doubt,
    count(*) filter ((v.decision = 'proved') = (r.decision = 'accept')) / count(*) as agreement_share,
    list_sort(list_distinct(flatten(list(r.reasons) filter (v.decision = 'proved' and r.decision <> 'accept')))) as reasons
from standing_reviews r
join all_newest_verdicts v on v.subject = r.subject and v.check_name = 'reading' and v.model <> ''
join samples s on s.key = r.subject
where r.kind = 'sample_review' and not exists (select 1 from gold_items g where g.subject = r.subject and g.kind = r.kind)
group by all order by agreement_share, n_samples desc, r.reviewer, v.model, s.language, s.kind;
