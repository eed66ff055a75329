-- What people said and did not take back. `round` is 0 for the first question about a thing, and one more for each time that
-- people were asked again before.
create or replace view standing_reviews as
select r.* exclude (withdrawn_at), (
    select count(*) from review_rounds n where n.subject = r.subject and n.kind = r.kind and n.made_at < r.reviewed_at
) as round
from reviews r where r.withdrawn_at is null;
