-- What each build has of each kind of sample, by language: made, proved by every check, landed, waiting for people. An edited
-- sample counts under its kind where it lands; what it was edited from counts as made. There may be millions of samples, with
-- a score of outcomes each: so only the few outcomes that tell are looked at, and verdicts of those only that were ever doubted.
create or replace view composition as
with doubted as (
    select subject from verdicts where decision <> 'proved' group by subject
), unproved as (
    select subject from (
        select v.subject, arg_max(v.decision, v.made_at) as decision
        from verdicts v semi join doubted using (subject) group by v.subject, v.check_name
    ) where decision <> 'proved' group by subject
), firsts as (
    select c.build, arg_min(c.check_name, t.position) as stage
    from build_checks c join stages t on t.name = c.check_name group by c.build
), ways as (
    select
        f.build, f.subject,
        bool_or(f.stage = c.stage and f.outcome <> 'failed') as checked,
        bool_or(f.stage = 'land' and f.outcome = 'passed') as landed,
        bool_or(f.outcome = 'waiting') as waiting
    from outcomes f left join firsts c on c.build = f.build
    where f.stage = c.stage or f.stage = 'land' or f.outcome = 'waiting' group by f.build, f.subject
)
select
    b.recipe, w.build, s.kind, s.language,
    count(*) as made,
    count(*) filter (w.checked and u.subject is null) as proved,
    count(*) filter (w.landed) as landed,
    count(*) filter (w.waiting) as waiting,
    count(distinct s.category) filter (w.landed) as categories,
    count(distinct s.gold -> 0 ->> 'tool') filter (w.landed) as tools
from ways w
join samples s on s.key = w.subject
join builds b on b.key = w.build
left join unproved u on u.subject = w.subject
group by all;
