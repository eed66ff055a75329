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
-- `missed` defects were accepted or edited into something wrong; `false_alarms` turned away what was right. The share of right
-- answers lies between `low` and `high` with 95 % confidence (Wilson).
create or replace view annotator_accuracy as
with answered as (
    select reviewer, case when defect = '' then 'none' else defect end as defect, expected, is_right
    from gold_answers where kind <> 'training'
), counted as (
    select
        reviewer, coalesce(defect, 'all') as defect, count(*) as answered, count(*) filter (is_right) as correct,
        count(*) filter (not is_right and expected = 'reject') as missed,
        count(*) filter (not is_right and expected = 'accept') as false_alarms
    from answered group by grouping sets ((reviewer), (reviewer, defect))
), shares as (
    select *, correct / answered as share, 1.959963984540054 as z from counted
), centred as (
    select *, (share + z * z / (2 * answered)) / (1 + z * z / answered) as centre,
        z / (1 + z * z / answered) * sqrt(share * (1 - share) / answered + z * z / (4 * answered * answered)) as half
    from shares
)
select reviewer, defect, answered, correct, share, case when answered > 0 then greatest(0, centre - half) else null end as low,
    case when answered > 0 then least(1, centre + half) else null end as high, missed, false_alarms
from centred order by reviewer, defect <> 'all', defect;
