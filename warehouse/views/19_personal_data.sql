-- Personal data in records that a build takes from files: how many values of each kind in how many records. `is_replaced` says whether they
-- were replaced (`personal_data: on`) or only counted (`report`). Records that are not drawn (`take`) are no part of the build.
create or replace view personal_data as
select
    recipe, build, one.key as kind, count(*) as n_records, sum((one.value ->> '$')::bigint)::bigint as n_values, is_replaced
from (
    select
        b.recipe, o.build, unnest(map_entries(json_fields(d.body -> 'replaced'))) as one,
        coalesce(b.body ->> '$.personal_data.mode', '') = 'on' as is_replaced
    from outcomes o
    join builds b on b.key = o.build
    join drafts d on d.key = o.subject
    where o.stage = 'taken' and d.type = 'TakenRecord'
)
group by all
order by recipe, build, n_values desc, kind;
