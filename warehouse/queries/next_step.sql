-- name: counts
-- What a work folder holds, in one row. `unfinished` is the recipe of a build that was begun last and has not ended.
with newest as (select name, created_at from releases order by created_at desc, name limit 1)
select
    (select count(*) from acceptances where withdrawn_at is null) as landed,
    (select count(*) from review_queue where is_current and not is_answered) as waiting,
    (select count(*) from review_queue where is_current and not is_answered and pushed_at is null) as unpushed,
    (select count(*) from releases) as releases,
    (select name from newest) as newest,
    (select max(accepted_at) from acceptances where withdrawn_at is null) > (select created_at from newest) as is_newer,
    (select count(*) from scores where release = (select name from newest)) as evaluated,
    (select recipe from builds where finished_at is null and not is_trial order by started_at desc limit 1) as unfinished
