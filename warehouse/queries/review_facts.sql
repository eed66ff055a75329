-- name: days
select day, reviewer, n_reviews, active_hours from review_pace
where day in (select distinct day from review_pace order by day desc limit @days) order by day desc, reviewer

-- name: gold
select * from annotator_accuracy

-- name: usable
select * from usable_share

-- name: reasons
-- Gold items are left out: why a spoiled one is rejected is known.
select r.kind, r.reason, count(*) as reviews, count(distinct r.reviewer) as reviewers,
    count(distinct r.subject) as subjects, any_value(a.share) as share
from (
    select kind, subject, reviewer, unnest(reasons) as reason from review_words v
    where annotation_id > 0
        and not exists (select 1 from gold_items g where g.subject = v.subject and g.kind = v.kind)
) r left join (
    select kind, reason, sum(n_agreeing) / sum(n_pairs) as share from reviewer_agreement group by all
) a using (kind, reason)
group by r.kind, r.reason order by r.kind, reviews desc, r.reason
