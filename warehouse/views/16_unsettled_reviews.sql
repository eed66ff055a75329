-- Things about which as many people have spoken as were asked, without more than half of them saying the same: one more
-- person is asked.
create or replace view unsettled_reviews as
with newest as (
    select subject, kind, max(round) as round from review_words group by all
)
select w.subject, w.kind, w.round, count(*) as n_speakers, any_value(q.reviewers) as n_reviewers,
    list(distinct w.decision order by w.decision) as decisions
from review_words w
join newest n using (subject, kind, round)
join review_requests q on q.subject = w.subject and q.kind = w.kind
where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
group by w.subject, w.kind, w.round
having any_value(q.reviewers) > 1 and count(*) >= any_value(q.reviewers)
    and not exists (select 1 from decisions d where d.subject = w.subject and d.kind = w.kind and d.round = w.round);
