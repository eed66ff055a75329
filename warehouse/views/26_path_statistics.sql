-- How long the paths of each build's landed multi-step samples are, by domain: steps and calls in the mean, and how much the
-- model that is evaluated has to read at most, in characters (ComplexFuncBench, Table 3).
create or replace view path_statistics as
select
    b.recipe, f.build, s.category as domain, s.language,
    count(*) as samples,
    avg(s.call_turns) as steps,
    avg(s.calls) as calls,
    max(strlen(s.body)) as most_characters
from outcomes f
join samples s on s.key = f.subject
join kinds k on k.name = s.kind
join builds b on b.key = f.build
where f.stage = 'land' and f.outcome = 'passed' and k.asked = 'path'
group by all;
