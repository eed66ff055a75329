-- What each build has of each kind of sample, by language: made, proved by every check, landed, waiting for people. An edited
-- sample counts under its kind where it lands; what it was edited from counts as made.
create or replace view composition as
with newest as (
    select v.subject, v.check_name, arg_max(v.decision, v.made_at) as decision from verdicts v group by all
), proofs as (
    select subject, bool_and(decision = 'proved') as proved from newest group by subject
)
select
    b.recipe, f.build, s.kind, s.language,
    count(distinct s.key) as made,
    count(distinct s.key) filter (p.proved) as proved,
    count(distinct s.key) filter (f.stage = 'land' and f.outcome = 'passed') as landed,
    count(distinct s.key) filter (f.outcome = 'waiting') as waiting,
    count(distinct s.category) filter (f.stage = 'land' and f.outcome = 'passed') as categories,
    count(distinct s.gold -> 0 ->> 'tool') filter (f.stage = 'land' and f.outcome = 'passed') as tools
from fates f
join samples s on s.key = f.subject
join builds b on b.key = f.build
left join proofs p on p.subject = s.key
group by all;
