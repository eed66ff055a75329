-- How often a reviewer answers as the others do about the same thing, over all ('') and by the reason that they give. `n_pairs` are each
-- word of theirs beside each word of another person in the same round; `n_agreeing` of them are the same answer: two edits only where
-- they say the same. Gold items are not counted, since their answers are known. Chance is not taken out: the table `agreement` has
-- Cohen's kappa and Krippendorff's alpha.
create or replace view reviewer_agreement as
with words as (
    select w.* from review_words w
    where w.annotation_id > 0
        and not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
), paired as (
    select a.kind, a.reviewer, a.reasons, a.answer = b.answer as is_same
    from words a join words b using (subject, kind, round) where a.reviewer <> b.reviewer
), counted as (
    select kind, reviewer, '' as reason, is_same from paired
    union all
    select kind, reviewer, unnest(reasons), is_same from paired
)
select kind, reviewer, reason, count(*) as n_pairs, count(*) filter (is_same) as n_agreeing, count(*) filter (is_same) / count(*) as agreement_share
from counted group by all order by kind, reviewer, reason;
