-- The requests of each build without what stands in quotes and without numbers, and in which share of them each one comes:
-- a skeleton with a large share is a sentence that was filled in again and again.
create or replace view skeletons as
with said as (
    select recipe, build, language,
        lower(regexp_replace(regexp_replace(request, '["“「][^"”」]*["”」]', '…', 'g'), '\d[\d.,:]*', '…', 'g')) as skeleton
    from accepted_samples where coalesce(request, '') <> ''
), counted as (
    select recipe, build, language, skeleton, count(*) as samples from said group by recipe, build, language, skeleton
)
select *, samples / sum(samples) over (partition by recipe, build, language) as share
from counted order by recipe, build, language, samples desc, skeleton;
