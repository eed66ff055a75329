-- What each build of a recipe did otherwise than the build before it, by figure: the share that each stage passed on ('passed'), of each
-- kind how many landed ('landed'), and the share of each grade among what landed ('grade'). Trials are left out.
create or replace view build_drift as
with ranked as (
    select key, recipe, row_number() over (partition by recipe order by coalesce(finished_at, started_at), key) as number
    from builds where not coalesce(is_trial, false)
), landed as (
    select f.build, s.kind, a.grade
    from outcomes f join (select key, kind from samples) s on s.key = f.subject left join acceptances a on a.subject = f.subject
    where f.stage = 'land' and f.outcome = 'passed'
), figures as (
    select build, 'passed' as figure, stage as slice_value, n_passed / n_entered as value from funnel
    union all
    select build, 'landed', kind, count(*) from landed group by build, kind
    union all
    select build, 'grade', coalesce(grade, ''), count(*) / sum(count(*)) over (partition by build) from landed group by build, grade
)
select
    n.recipe, n.key as build, b.key as build_before, v.figure, v.slice_value, w.value as value_before, v.value,
    v.value - coalesce(w.value, 0) as difference
from ranked n
join ranked b on b.recipe = n.recipe and b.number = n.number - 1
join figures v on v.build = n.key
left join figures w on w.build = b.key and w.figure = v.figure and w.slice_value = v.slice_value
order by n.recipe, n.number, v.figure, v.slice_value;
