-- Of what sort each question is, a row a sort: its cause, each doubt about it that stands open (`check: doubt`, or the check alone where
-- it names none), `contradicted` where something speaks against it, and of a suspect what candidates said. What readers settled since
-- is no doubt any more. A question about a path has the doubts about the samples that were made after it. `has_changed` is what came of
-- the question: whether people edited or rejected what it is about, null where nothing is decided.
create or replace view question_sorts as
with questions as (
    select q.subject, q.kind, q.version, q.cause, d.decision <> 'accept' as has_changed
    from review_queue q
    left join decisions d on d.subject = q.subject and d.kind = q.kind and d.round = q.version - 1
    where q.cause <> 'gold item'
), of_samples as (
    select subject, subject as sample from questions
    union
    select q.subject, b.sample from questions q join build_samples b on b.draft = q.subject where q.kind = 'correction'
), verdicts_of as (
    select s.subject, v.check_name, v.decision, v.doubts
    from (select distinct * from of_samples) s
    join newest_verdicts v on v.subject = s.sample
    left join stages c on c.name = v.check_name
    left join sample_grades g on g.subject = s.sample
    where v.decision <> 'proved' and not (
        v.decision = 'unproved' and coalesce(c.is_left_to_readers, false) and len(c.settles) > 0
        and not list_has_any(c.settles, coalesce(g.open_claims, c.settles))
    )
), doubted as (
    select subject, check_name || coalesce(': ' || (doubt ->> 'kind'), '') as sort
    from verdicts_of left join lateral (select unnest(json_extract(doubts, '$[*]')) as doubt) on true
    union all
    select subject, 'contradicted' from verdicts_of where decision = 'contradicted'
), suspected as (
    select subject, case when max(n_agreeing) > 1 then 'candidates agree' else 'all candidates fail' end as sort from suspects
    where subject in (select subject from questions where cause = 'suspect') group by subject
)
select subject, kind, version, cause as sort, has_changed from questions
union
select q.subject, q.kind, q.version, d.sort, q.has_changed from questions q join doubted d using (subject)
union
select q.subject, q.kind, q.version, s.sort, q.has_changed from questions q join suspected s using (subject) where q.cause = 'suspect';

-- What each sort of question weighs for the probability that people change something: of a question the weights are added up, and their
-- sum is the logarithm of the odds. Before fifty answers `weight` is `prior`, which is the same for every project; from then on it
-- is fitted to this project's own answers, and drawn to the prior as long as few questions are of the sort. `n_answered` questions
-- were decided, in `n_changed` of them people edited or rejected.
create or replace view doubt_sorts as
with priors as (
    select unnest([
        {'sort': 'doubtful', 'prior': -0.25},
        {'sort': 'contradicted', 'prior': 1.0},
        -- A reader who did not know the gold wrote something else: that is more than a rule that found nothing.
        {'sort': 'reading: gives_other', 'prior': 1.0},
        {'sort': 'reading: adds', 'prior': 1.0},
        {'sort': 'reading: calls_none', 'prior': 0.5},
        {'sort': 'reading: neither_fits', 'prior': 0.5},
        {'sort': 'suspect', 'prior': -1.0},
        {'sort': 'candidates agree', 'prior': 0.5},
        {'sort': 'returned edit', 'prior': 2.0},
        {'sort': 'audit', 'prior': -2.0},
        {'sort': 'spot check', 'prior': -3.0},
        {'sort': 'second look', 'prior': -3.0}
    ], recursive := true)
), seen as (
    select sort, count(*) filter (has_changed is not null) as n_answered, count(*) filter (has_changed) as n_changed
    from question_sorts group by sort
)
select sort, coalesce(p.prior, 0)::double as prior, coalesce(w.weight, p.prior, 0)::double as weight, coalesce(s.n_answered, 0) as n_answered,
    coalesce(s.n_changed, 0) as n_changed, coalesce(w.fitted_on, 0) as n_fitted
from seen s full join priors p using (sort) left join sort_weights w using (sort)
order by n_answered desc, sort;
