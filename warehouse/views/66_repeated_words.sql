-- How a request begins, in small letters.
create or replace macro opening_of(request) as lower(
    case when regexp_matches(request, '[㐀-鿿]') then left(regexp_replace(request, '[\s，。！？、]', '', 'g'), 4)
        else regexp_extract(request, '^\W*(\w\S*(?:\s+\S+){0,3})', 1) end
);
-- A request without what stands in quotes and without numbers.
create or replace macro skeleton_of(request) as
    lower(regexp_replace(regexp_replace(request, '["“「][^"”」]*["”」]', '…', 'g'), '\d[\d.,:]*', '…', 'g'));

-- Which words come again and again in the requests of a build, and in which share of those of its language: an opening (the first four
-- words of the user's first turn, in a script without spaces the first four characters), or a skeleton (a request without what stands in
-- quotes and without numbers). A request counts once, however many samples are made of it. A large share is a template that
-- shows through: `is_too_frequent` where it is more than the recipe allows (`checks.largest_opening`, `checks.largest_skeleton`), of
-- fifty requests and more.
create or replace view repeated_words as
with said as (
    select distinct l.recipe, l.build, s.language, s.request
    from landed_samples() l join (select key, language, request from samples) s on s.key = l.subject where coalesce(s.request, '') <> ''
), counted as (
    select recipe, build, language, 'opening' as what, opening_of(request) as words, count(*) as n_requests from said group by all
    union all
    select recipe, build, language, 'skeleton', skeleton_of(request), count(*) from said group by all
), told as (
    select build, language, count(*) as n_requests_of_language from said group by all
), allowed as (
    select t.*, k.what, (b.body ->> ('$.checks.largest_' || k.what))::double as allowed_share
    from told t left join builds b on b.key = t.build, (values ('opening'), ('skeleton')) as k(what)
)
select
    c.recipe, c.build, c.language, c.what, c.words, c.n_requests, a.n_requests_of_language,
    c.n_requests / a.n_requests_of_language as words_share, a.allowed_share,
    coalesce(c.n_requests / a.n_requests_of_language > a.allowed_share and a.n_requests_of_language >= 50, false) as is_too_frequent
from counted c join allowed a using (build, language, what)
order by c.recipe, c.build, c.language, c.what, c.n_requests desc, c.words;
