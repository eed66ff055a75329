-- The decision that counts about each thing: of the newest round in which there is one. Where one reviewer is asked, who
-- spoke first decides, by their newest word; where several are, as many must have spoken, and more than half of them say the
-- same. A word of an earlier round that two or more agreed on stands until the next one has a decision, also where more people
-- are asked by now. `voices` of `speakers` said so; what the others said stands in `reviews`. Gold items decide nothing.
create or replace view decisions as
with counted as (
    select w.*, coalesce(q.reviewers, 1) as reviewers,
        w.round < max(w.round) over (partition by w.subject, w.kind) as is_earlier,
        count(*) over (partition by w.subject, w.kind, w.round) as speakers,
        count(*) over (partition by w.subject, w.kind, w.round, w.answer) as voices
    from review_words w left join review_requests q on q.subject = w.subject and q.kind = w.kind
    where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
)
select subject, kind, decision, reviewer, reviewed_at, reasons, comment, result, round, voices, speakers
from counted
where reviewers = 1 or (2 * voices > speakers and (speakers >= reviewers or (is_earlier and speakers > 1)))
qualify row_number() over (partition by subject, kind order by round desc, spoke_at, reviewer) = 1;
