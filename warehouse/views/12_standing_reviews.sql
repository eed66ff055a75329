-- What people said and did not take back. `round` is 0 for the first question about a thing, and one more for each time that
-- people were asked again before. `answer` is the same where people say the same: the decision, of an edit what it says.
create or replace view standing_reviews as
select r.* exclude (withdrawn_at, answer), coalesce(r.answer, r.result, r.decision) as answer, (
    select count(*) from review_rounds n where n.subject = r.subject and n.kind = r.kind and n.made_at < r.reviewed_at
) as round
from reviews r where r.withdrawn_at is null;
