-- Each reviewer's newest word in each round about a thing. `spoke_at`: when they first spoke in it.
create or replace view review_words as
select *, min(reviewed_at) over (partition by subject, kind, round, reviewer) as spoke_at
from standing_reviews
qualify row_number() over (partition by subject, kind, round, reviewer order by reviewed_at desc, key) = 1;
