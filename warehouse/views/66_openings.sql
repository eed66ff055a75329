-- How the requests of a build begin, and in which share of them: the first four words of the user's first turn, in a script
-- without spaces the first four characters. An opening with a large share is a template that shows through. Another build, and a
-- wish for less, are the recipe's own: `select * from openings where share > 0.05`.
create or replace view openings as
with said as (
    select recipe, build, language,
        lower(case when regexp_matches(request, '[㐀-鿿]') then left(regexp_replace(request, '[\s，。！？、]', '', 'g'), 4)
            else regexp_extract(request, '^\W*(\w\S*(?:\s+\S+){0,3})', 1) end) as opening
    from accepted_samples where coalesce(request, '') <> ''
), counted as (
    select recipe, build, language, opening, count(*) as samples from said group by recipe, build, language, opening
)
select *, samples / sum(samples) over (partition by recipe, build, language) as share
from counted order by recipe, build, language, samples desc, opening;
