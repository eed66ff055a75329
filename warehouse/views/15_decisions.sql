-- The decision that counts about each thing: of the newest round in which there is one. Where one reviewer is asked, who
-- spoke first decides, by their newest word; where several are, as many must have spoken, and more than half of them say the
-- same. A word of an earlier round that two or more agreed on stands until the next one has a decision, also where more people
-- are asked by now. `n_voices` of `n_speakers` said so; what the others said stands in `reviews`. Gold items decide nothing.
create or replace view decisions as
with counted as (
    select w.*, coalesce(q.reviewers, 1) as n_reviewers,
        w.round < max(w.round) over (partition by w.subject, w.kind) as is_earlier,
        count(*) over (partition by w.subject, w.kind, w.round) as n_speakers,
        count(*) over (partition by w.subject, w.kind, w.round, w.answer) as n_voices
    from review_words w left join review_requests q on q.subject = w.subject and q.kind = w.kind
    where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
)
select subject, kind, decision, reviewer, reviewed_at, reasons, comment, result, round, n_voices, n_speakers
from counted
where n_reviewers = 1 or (2 * n_voices > n_speakers and (n_speakers >= n_reviewers or (is_earlier and n_speakers > 1)))
qualify row_number() over (partition by subject, kind order by round desc, spoke_at, reviewer) = 1;
