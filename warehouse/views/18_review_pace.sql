-- How fast people review, by reviewer and day (UTC). `active_hours`: the time between one review and the next, where that is no more
-- than 15 minutes; of the first one after a longer pause, what Label Studio measured. What was taken back since was work, too;
-- training is none.
create or replace view review_pace as
with spoken as (
    select
        reviewer, (reviewed_at at time zone 'UTC')::date as day, reviewed_at, seconds,
        epoch(reviewed_at - lag(reviewed_at) over (partition by reviewer order by reviewed_at, key)) as since
    from reviews where annotation_id > 0 and kind <> 'training'
), worked as (
    select *, case when since <= 15 * 60 then since else least(seconds, 15 * 60) end / 3600 as hours from spoken
)
select
    reviewer, day, count(*) as n_reviews, sum(hours) as active_hours, count(*) / nullif(sum(hours), 0) as reviews_per_hour,
    median(seconds) as median_seconds, min(reviewed_at) as first_at, max(reviewed_at) as last_at
from worked group by all order by reviewer, day;
