-- The decision that counts about each sample. An edit that came back opens a new round, and the newest round counts;
-- in it the person who spoke first decides, by their newest word. What others said stays in `reviews`.
create or replace view decisions as
with rounds as (
    select r.*, (
        select count(*) from returned_edits e where e.subject = r.subject and e.kind = r.kind and e.made_at < r.reviewed_at
    ) as round
    from reviews r
), words as (
    select *, min(reviewed_at) over (partition by subject, kind, round, reviewer) as spoke_at
    from rounds
    qualify row_number() over (partition by subject, kind, round, reviewer order by reviewed_at desc, key) = 1
)
select subject, kind, decision, reviewer, reviewed_at, reasons, comment, result
from words
qualify row_number() over (partition by subject, kind order by round desc, spoke_at, reviewer) = 1;
