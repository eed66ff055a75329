-- Each call that an accepted sample asks for: where calls are carried out all of them, else those of its last snapshot. It reads the
-- bodies of the samples whose calls are carried out.
create or replace view gold_calls as
with landed as (
    select recipe, build, subject from acceptances where withdrawn_at is null
), whole as (
    select name from kinds where has_results
), asked as (
    select s.key, s.kind, s.language, s.category, unnest(json_extract(s.gold, '$[*]')) as call
    from samples s where s.kind not in (from whole)
    union all
    select s.key, s.kind, s.language, s.category, unnest(json_extract(s.body, '$.turns[*].calls[*]'))
    from samples s where s.kind in (from whole)
)
select
    l.recipe, l.build, s.key as sample, s.kind, s.language, s.category, s.call ->> 'tool' as tool, s.call -> 'arguments' as arguments
from asked s join landed l on l.subject = s.key;

-- How often each tool of a recipe's newest build is called in the gold of its accepted samples. `expected_calls` is what it would be if all
-- tools of its language were called alike, `ratio` how far it is from that: those with a ratio near 0 are under-represented.
create or replace view tool_coverage as
with called as (
    select l.build, g.tool, g.language, count(*) as calls, count(distinct g.sample) as samples
    from gold_calls g join landed_samples() l on l.subject = g.sample where l.build in (select build from latest_builds) group by all
), offered as (
    select l.recipe, l.build, t.key, t.name, t.category, t.language
    from latest_builds l join build_tools o on o.build = l.build join tools t on t.key = o.tool
)
select
    o.recipe, o.build, o.name as tool, o.category, o.language, coalesce(c.samples, 0) as n_samples, coalesce(c.calls, 0) as n_calls,
    sum(coalesce(c.calls, 0)) over same / count(*) over same as expected_calls,
    coalesce(c.calls, 0) / nullif(sum(coalesce(c.calls, 0)) over same / count(*) over same, 0) as ratio
from offered o left join called c on c.build = o.build and c.tool = o.name and c.language = o.language
window same as (partition by o.build, o.language)
order by o.recipe, ratio, o.language, o.name;

-- How often each parameter of a recipe's newest build is given where its tool is called in the gold of accepted samples. `n_given` of the
-- `n_calls` have it; `n_values` is how many different values it has there. Required ones should always be given in the end.
create or replace view parameter_coverage as
with called as (
    select l.build, g.language, g.tool, g.arguments
    from gold_calls g join landed_samples() l on l.subject = g.sample where l.build in (select build from latest_builds)
), counted as (
    select build, language, tool, count(*) as calls from called group by all
), stated as (
    select build, language, tool, one.key as parameter, count(*) as given, count(distinct one.value ->> '$') as values
    from (select build, language, tool, unnest(map_entries(json_fields(arguments))) as one from called) group by all
), offered as (
    select l.recipe, l.build, t.key, t.name as tool, t.category, t.language, t.parameters
    from latest_builds l join build_tools o on o.build = l.build join tools t on t.key = o.tool
), declared as (
    select recipe, build, key, tool, category, language, unnest(list_transform(
        map_entries(json_fields(parameters -> '$.properties')),
        lambda one: {'name': one.key, 'type': coalesce(one.value ->> '$.type', '')}
    )) as parameter
    from offered
), required as (
    select distinct key, unnest(json_extract_string(parameters, '$.required[*]')) as name from offered
)
select
    d.recipe, d.build, d.tool, d.category, d.language, d.parameter.name as parameter, d.parameter.type as parameter_type,
    (d.key, d.parameter.name) in (select (key, name) from required) as is_required,
    coalesce(c.calls, 0) as n_calls, coalesce(s.given, 0) as n_given, coalesce(s.given, 0) / nullif(c.calls, 0) as given_share,
    coalesce(s.values, 0) as n_values
from declared d
left join counted c using (build, language, tool)
left join stated s on s.build = d.build and s.language = d.language and s.tool = d.tool and s.parameter = d.parameter.name
order by d.recipe, given_share nulls first, d.tool, d.parameter.name;

-- How long accepted samples are, by build, kind and language: characters of the request (median and the longest tenth), turns with
-- calls, gold calls, and characters of the whole sample as it is kept.
create or replace view lengths as
select
    l.recipe, l.build, s.kind, s.language, count(*) as n_samples, median(s.of_request) as request_characters,
    quantile_cont(s.of_request, 0.9) as request_characters_p90, avg(s.call_turns) as mean_call_turns, avg(s.calls) as mean_calls,
    median(s.of_body) as body_characters
from landed_samples() l
join (
    select key, kind, language, length(request) as of_request, call_turns, calls, strlen(body) as of_body from samples
) s on s.key = l.subject
group by all order by l.recipe, l.build, s.kind, s.language;
