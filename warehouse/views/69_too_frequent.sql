-- The openings and skeletons that more requests of a build have than its recipe allows (`checks.largest_opening`,
-- `checks.largest_skeleton`): in how many of its different requests in that language. Of less than fifty a share says nothing.
create or replace view too_frequent as
with said as ( -- not of `openings` and `skeletons`, which sort all of them
    select distinct recipe, build, language, request from accepted_samples where coalesce(request, '') <> ''
), counted as (
    select recipe, build, language, 'opening' as what, opening_of(request) as words, count(*) as requests from said group by all
    union all
    select recipe, build, language, 'skeleton', skeleton_of(request), count(*) from said group by all
), told as (
    select build, language, count(*) as of_requests from said group by all
), allowed as (
    select t.*, k.what, (b.body ->> ('$.checks.largest_' || k.what))::double as allowed
    from told t join builds b on b.key = t.build, (values ('opening'), ('skeleton')) as k(what)
)
select
    c.recipe, c.build, c.language, c.what, c.words, c.requests, a.of_requests, c.requests / a.of_requests as share, a.allowed
from counted c join allowed a using (build, language, what)
where c.requests / a.of_requests > a.allowed and a.of_requests >= 50
order by c.recipe, c.build, c.language, c.what, c.requests desc, c.words;
