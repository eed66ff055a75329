-- What each reviewer last said of each gold item, and whether that is right: to accept what is as it should be, to reject what is not,
-- or to edit it back into what it was. Those of the kind `training` are what people learn on; they are told the right answers.
create or replace view gold_answers as
select w.reviewer, g.kind, g.subject, g.made_of, g.expected, g.defect, w.decision, w.reasons, w.reviewed_at,
    w.decision = g.expected or w.answer = g.answer as is_right
from gold_items g
join review_words w on w.subject = g.subject and w.kind = g.kind
qualify row_number() over (partition by w.subject, w.kind, w.reviewer order by w.round desc) = 1;

-- How well each reviewer answers gold items, over all of them (`defect` is 'all') and by the defect put in ('none': as it
-- should be). Right is to accept what is as it should be, to reject what is not, or to edit it back into what it was.
-- `n_missed` defects were accepted or edited into something wrong; `n_false_alarms` turned away what was right. `right_share` lies between `low` and `high` with 95 % confidence (Wilson).
create or replace view annotator_accuracy as
with answered as (
    select reviewer, case when defect = '' then 'none' else defect end as defect, expected, is_right
    from gold_answers where kind <> 'training'
), counted as (
    select
        reviewer, coalesce(defect, 'all') as defect, count(*) as n_answered, count(*) filter (is_right) as n_right,
        count(*) filter (not is_right and expected = 'reject') as n_missed,
        count(*) filter (not is_right and expected = 'accept') as n_false_alarms
    from answered group by grouping sets ((reviewer), (reviewer, defect))
), bounded as (
    select *, share_interval(n_right, n_answered) as bounds from counted
)
select reviewer, defect, n_answered, n_right, n_right / n_answered as right_share, bounds.low as low, bounds.high as high, n_missed, n_false_alarms
from bounded order by reviewer, defect <> 'all', defect;
