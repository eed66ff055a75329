-- name: of_release
with of_release as (
    select s.*, r.split, a.build, coalesce(a.grade, '') as grade, coalesce(a.judged_by, []) as judged_by, a.withdrawn_at,
        coalesce(is_template(s.model, b.body ->> '$.models.generator.name', a.grade, a.judged_by), false) as of_template
    from release_samples r join samples s on s.key = r.subject left join acceptances a on a.subject = s.key
    left join builds b on b.key = a.build where r.release = ?
), newest as (
    select v.subject, v.check_name, arg_max(v.decision, v.made_at) as decision from verdicts v
    join of_release o on o.key = v.subject group by all
)

-- name: kinds
@of_release
select kind, language, count(*) as samples from of_release group by all order by kind, language

-- name: categories
@of_release
select category, count(*) as samples from of_release group by all order by category

-- name: splits
@of_release
select split, kind, count(*) as samples from of_release where split is not null group by all order by split, kind

-- name: builds
@of_release
select o.build, b.recipe, coalesce(b.is_trial, false) as is_trial, b.finished_at, count(*) as samples,
    coalesce(b.body ->> '$.models.generator.name', '') as generator,
    coalesce(b.body ->> '$.models.checker.name', '') as checker, coalesce(b.body ->> '$.models.judge.name', '') as judge,
    coalesce(b.body ->> '$.license', '') as license, coalesce(b.body ->> '$.tool_license', '') as tool_license
from of_release o join builds b on b.key = o.build group by all order by samples desc, build

-- name: grades
@of_release
select o.grade, o.of_template, count(*) as samples, list_sort(list_distinct(flatten(list(o.judged_by)))) as judged_by,
    any_value(m.reviewed) as reviewed, any_value(m.precision) as precision
from of_release o left join (
    select grade, of_template, count(is_good) as reviewed,
        count(*) filter (is_good) / nullif(count(is_good), 0) as precision
    from grade_reviews where build in (select build from of_release) group by all
) m on m.grade = o.grade and m.of_template = o.of_template
group by all order by all

-- name: readers
@of_release
-- By sort of defect, "" for all.
select reader, language, family, defect, sum(n_planted)::bigint as planted, sum(n_caught)::bigint as caught,
    share_interval(sum(n_caught), sum(n_planted)).low as caught_low, share_interval(sum(n_caught), sum(n_planted)).high as caught_high,
    sum(n_doubles)::bigint as doubles, sum(n_doubted_doubles)::bigint as doubted_doubles,
    sum(precision * (n_read - n_doubted)) / nullif(sum(n_read - n_doubted) filter (precision is not null), 0) as precision,
    sum(precision_low * (n_read - n_doubted)) / nullif(sum(n_read - n_doubted) filter (precision is not null), 0) as precision_low
from reader_precision p where n_planted + n_doubles > 0 and build in (select build from of_release)
    and list_contains((select list_distinct(flatten(list(judged_by))) from of_release), reader)
group by all order by all

-- name: models
@of_release
select model, prompt_version, count(*) as samples from of_release group by all
order by samples desc, model, prompt_version

-- name: verdicts
@of_release
select check_name, count(*) filter (decision = 'proved') as proved,
    count(*) filter (decision = 'unproved') as unproved, count(*) filter (decision = 'contradicted') as contradicted
from newest group by all order by check_name

-- name: sources
@of_release
select t.source, count(distinct t.key) as tools
from (select unnest(json_extract_string(body, '$.candidates[*]')) as tool from of_release) o join tools t on t.key = o.tool
group by all order by tools desc, source

-- name: reviewers
@of_release
select w.kind, count(distinct w.reviewer) as reviewers, count(distinct w.subject) as samples,
    count(distinct w.subject) filter (w.decision = 'accept') as accepted
from reviews w join of_release o on o.key = w.subject
where w.withdrawn_at is null group by all order by w.kind

-- name: withdrawn
@of_release
select count(*) as samples from of_release where withdrawn_at is not null

-- name: agreement
select kind, measure, value, items, reviewers from agreement where slice_by = 'all' and value is not null order by kind, measure
