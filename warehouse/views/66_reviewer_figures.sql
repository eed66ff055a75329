-- What is known of each reviewer, a row a person: what they said that stands, how fast, how they do on gold items, how often they answer
-- as others do, and how many of their answers came faster than anybody reads. `gold_share` and `agreement_share` are null where nothing is
-- known. What they do to learn, on training items, counts in none of these.
create or replace view reviewer_figures as
with paces as (
    select reviewer, sum(active_hours) as active_hours, sum(n_reviews) / nullif(sum(active_hours), 0) as reviews_per_hour,
        max(last_at) as last_at
    from review_pace group by reviewer
), said as (
    select reviewer, count(*) as n_reviews, count(*) filter (decision = 'accept') as n_accepted,
        count(*) filter (decision = 'edit') as n_edited, count(*) filter (decision = 'reject') as n_rejected,
        round(median(seconds), 1) as median_seconds
    from standing_reviews where annotation_id > 0 and kind <> 'training' group by reviewer
), agreed as (
    select reviewer, sum(n_agreeing) / sum(n_pairs) as agreement_share from reviewer_agreement where reason = '' group by reviewer
), hurried as (
    select reviewer, count(*) as n_fast_answers from fast_answers group by reviewer
)
select
    p.reviewer, coalesce(s.n_reviews, 0) as n_reviews, coalesce(s.n_accepted, 0) as n_accepted, coalesce(s.n_edited, 0) as n_edited,
    coalesce(s.n_rejected, 0) as n_rejected, s.median_seconds, round(p.reviews_per_hour, 1) as reviews_per_hour,
    round(p.active_hours, 3) as active_hours, coalesce(g.n_answered, 0) as n_gold_items, round(g.right_share, 3) as gold_share,
    round(a.agreement_share, 3) as agreement_share, coalesce(h.n_fast_answers, 0) as n_fast_answers, p.last_at
from paces p
left join said s on s.reviewer = p.reviewer
left join agreed a on a.reviewer = p.reviewer
left join hurried h on h.reviewer = p.reviewer
left join annotator_accuracy g on g.reviewer = p.reviewer and g.defect = 'all'
order by n_reviews desc, p.reviewer;

-- For what people reject, by kind, language and reason: how many of the reviews that stand name the reason, about how many things, and
-- how many people did. Gold items and training are left out.
create or replace view given_reasons as
with named as (
    select w.kind, coalesce(s.language, t.language, '') as language, unnest(w.reasons) as reason, w.subject, w.reviewer
    from review_words w
    left join (select key, language from samples) s on s.key = w.subject
    left join (select key, language from tools) t on t.key = w.subject
    where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind) and w.annotation_id > 0
)
select kind, language, reason, count(*) as n_reviews, count(distinct subject) as n_subjects, count(distinct reviewer) as n_reviewers
from named group by all order by kind, language, n_reviews desc, reason;
