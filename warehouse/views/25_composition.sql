-- What each build has of each kind of sample, by language: made, landed, of these proved, judged and vouched for (see
-- accepted_samples), and waiting for people. An edited
-- sample counts under its kind where it lands; what it was edited from counts as made. There may be millions of samples, with
-- a score of outcomes each: so only the few outcomes that tell are looked at, and no verdicts.
create or replace view composition as
with firsts as (
    select c.build, arg_min(c.check_name, t.position) as stage
    from build_checks c join stages t on t.name = c.check_name group by c.build
), ways as (
    select
        f.build, f.subject,
        bool_or(f.stage = 'land' and f.outcome = 'passed') as landed,
        bool_or(f.outcome = 'waiting') as waiting
    from outcomes f left join firsts c on c.build = f.build
    where f.stage = c.stage or f.stage = 'land' or f.outcome = 'waiting' group by f.build, f.subject
)
select
    b.recipe, w.build, s.kind, s.language,
    count(*) as n_made,
    count(*) filter (w.landed) as n_landed,
    count(*) filter (w.landed and a.grade = 'proved') as n_proved,
    count(*) filter (w.landed and a.grade = 'judged') as n_judged,
    count(*) filter (w.landed and a.grade = 'vouched') as n_vouched,
    count(*) filter (w.waiting) as n_waiting,
    count(distinct s.category) filter (w.landed) as n_categories,
    count(distinct json_extract_string(s.gold, '$[0].tool')) filter (w.landed) as n_tools
from ways w
join samples s on s.key = w.subject
join builds b on b.key = w.build
left join acceptances a on a.subject = w.subject and a.withdrawn_at is null
group by all;
