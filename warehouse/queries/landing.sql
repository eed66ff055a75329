-- name: passed
-- A sample is as far as a stage when the stage before passed it; the newest verdicts of each check count. What came of
-- an edit lands by the decision about it.
select s.key from samples s join outcomes f on f.subject = s.key
where f.build = ? and f.stage = ? and f.outcome = 'passed' and s.stage <> 'review'
    and not exists (select 1 from outcomes g where g.build = f.build and g.stage = ? and g.subject = s.key)
order by exists (select 1 from acceptances a where a.subject = s.key) desc, s.key

-- name: any_passed
@passed limit 1

-- name: undecided
select key from (@passed) where key not in (select subject from decisions)

-- name: landed
-- What has a place already: samples of this build of which people were asked, or that landed, those of the recipe's other runs, and other
-- recipes' accepted ones but those of trials.
select s.key from samples s
where exists (select 1 from outcomes f
        where f.build = $1 and f.stage = $2 and f.outcome = 'passed' and f.subject = s.key
            and exists (select 1 from outcomes r where r.build = $1 and r.stage = $3 and r.subject = s.key))
    or exists (select 1 from acceptances a
        where a.subject = s.key and a.recipe <> $4 and a.withdrawn_at is null
            and a.build not in (select key from builds where is_trial))
    or s.key in (select f.subject from latest_builds l join outcomes f on f.build = l.build
        join acceptances a on a.subject = f.subject and a.withdrawn_at is null
        where l.recipe = $4 and not l.is_trial and l.run <> (select coalesce(run, 1) from builds where key = $1)
            and f.stage = 'land' and f.outcome = 'passed')
        and s.key not in (select sample from build_samples where build = $1)
order by s.key

-- name: unlanded
-- The others that passed the checks, with what was decided about them before: what others are made of comes first.
select s.key, d.outcome, coalesce(d.reason, '') from samples s join outcomes f on f.subject = s.key
left join outcomes d on d.build = f.build and d.stage = $1 and d.subject = s.key
where f.build = $2 and f.stage = $3 and f.outcome = 'passed' and s.stage <> 'review'
    and not exists (select 1 from outcomes r where r.build = f.build and r.stage = $4 and r.subject = s.key)
order by exists (select 1 from acceptances a where a.subject = s.key) desc,
    ($6::int[])[list_position($5::varchar[], s.kind)], s.key

-- name: bodies
select key, body from samples where key in (select unnest(?::varchar[]))

-- name: repeated
-- Of the different requests of a build in a language, those that stand beyond the share of their opening or skeleton in the order of
-- a hash of their words, whenever they were made; what has its place already stays. As in the view repeated_words, fifty are needed.
with said as (
    select s.key, s.language, s.request, exists (select 1 from outcomes r
        where r.build = $1 and r.stage = $3 and r.subject = s.key) as has_place
    from samples s join outcomes f on f.subject = s.key
    where f.build = $1 and f.stage = $2 and f.outcome = 'passed' and s.stage <> 'review' and coalesce(s.request, '') <> ''
), requests as (
    select language, request, unnest([
        {'what': 'begins with', 'words': opening_of(request), 'allowed': $4::double},
        {'what': 'is, but for numbers and quoted words,', 'words': skeleton_of(request), 'allowed': $5::double}
    ], recursive := true) from (select distinct language, request from said)
), ranked as (
    select *, row_number() over (partition by language, what, words order by md5(request), request) as place,
        count(*) over (partition by language, what) as total
    from requests
), beyond as (
    select language, request, string_agg(format('The request {} {}, as more than {:.1f} % of all do.',
        what, '"' || words || '"', 100 * allowed), ' ' order by what) as reason
    from ranked where total >= 50 and place > allowed * total group by language, request
)
select s.key, b.reason from said s join beyond b using (language, request) where not s.has_place order by s.key

-- name: untrusted
-- Samples that models settled which may settle nothing, each with the model: it was measured, and caught or agreed too little.
select s.key, min(t.reader) as reader
from samples s join outcomes f on f.subject = s.key join sample_grades g on g.subject = s.key
join reader_trust t on t.build = f.build and list_contains(g.models, t.reader)
where f.build = $1 and f.stage = $2 and f.outcome = 'passed' and s.stage <> 'review' and g.grade = 'judged'
    and not exists (select 1 from outcomes r where r.build = f.build and r.stage = $3 and r.subject = s.key)
    and (t.caught_share < $4::double or t.worst_high < $4::double or t.agreed_share < $5::double)
group by s.key order by s.key

-- name: trusted_by_now
-- What waits for people since its reader was not trusted, and by now is: it is asked anew whether it may land.
delete from outcomes where build = $1 and stage = $2 and outcome = 'waiting' and subject not in (select subject from decisions)
    and starts_with(reason, $5) and subject not in (
        select g.subject from sample_grades g join reader_trust t on t.build = $1 and list_contains(g.models, t.reader)
        where t.caught_share < $3::double or t.worst_high < $3::double or t.agreed_share < $4::double
    )

-- name: uncertain
-- Samples that models settled of whom it is not known that what they choose is right often enough; null where it was not measured.
select s.key, k.precision_low as known
from samples s join outcomes f on f.subject = s.key join sample_grades g on g.subject = s.key
left join judged_precision k on k.subject = s.key and k.build = f.build
where f.build = $1 and f.stage = $2 and f.outcome = 'passed' and s.stage <> 'review' and g.grade = 'judged'
    and not exists (select 1 from outcomes r where r.build = f.build and r.stage = $3 and r.subject = s.key)
    and coalesce(k.precision_low < 1 - $4::double, true)
order by s.key

-- name: certain_by_now
-- What waits for people since too little was known of its readers, and by now enough is: it is asked anew whether it may land.
delete from outcomes where build = $1 and stage = $2 and outcome = 'waiting' and subject not in (select subject from decisions)
    and subject in (
        select g.subject from sample_grades g join judged_precision k on k.subject = g.subject
        where k.build = $1 and g.grade = 'judged' and k.precision_low >= 1 - $3::double
    )

-- name: doubtful
-- Samples of this build whose grade may not land without people, each with the reasons of its newest verdicts that prove nothing,
-- and with what no check settles.
with unsettled as (
    select p.key, g.grade, g.models, g.open_claims from (@passed) p join sample_grades g on g.subject = p.key
    where not list_contains(?::varchar[], g.grade)
), newest as (
    select subject, check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
    from verdicts v semi join unsettled u on u.key = v.subject where check_name <> ? group by all
), doubts as (
    select subject, string_agg(check_name || ': ' || reason, ' ' order by check_name) as reasons
    from newest where decision <> 'proved' group by subject
)
select u.key, concat_ws(' ', d.reasons,
    if(u.grade = 'judged', 'Rules leave it open; ' || array_to_string(u.models, ' and ') || ' read the same.', null),
    if(d.reasons is null and u.grade = 'open', 'Nothing settles: ' || array_to_string(u.open_claims, ', ') || '.', null)
) as reasons
from unsettled u left join doubts d on d.subject = u.key order by u.key

-- name: accept
insert into acceptances (subject, build, recipe, grade, judged_by, accepted_by, decided_by, accepted_at, withdrawn_at)
select p.key, ?, ?, g.grade, if(g.grade = 'judged', g.models, []), 'machine', 'machine', now(), null
from (@undecided) p join sample_grades g on g.subject = p.key where p.key not in (select subject from acceptances)

-- name: accept_again
-- What a check took back, and settles by now; and what a changed check settles in another way than when it landed.
update acceptances set withdrawn_at = null, accepted_at = now()
where withdrawn_at is not null and decided_by = 'machine' and subject in (select key from (@undecided))

-- name: grade_again
update acceptances set grade = g.grade, judged_by = if(g.grade = 'judged', g.models, [])
from sample_grades g where g.subject = acceptances.subject and acceptances.build = ? and acceptances.withdrawn_at is null
    and acceptances.decided_by = 'machine' and g.grade <> 'open' and g.grade <> acceptances.grade

-- name: take_over
-- What a trial has landed belongs to the whole build that lands it too.
update acceptances set build = ?, recipe = ? where build in (select key from builds where is_trial)
    and subject in (select subject from outcomes where build = ? and stage = ? and outcome = 'passed')

-- name: to_draw
select f.subject, r.cause, f.stage = $3 and f.outcome = 'passed' and a.decided_by = 'machine' as is_free from outcomes f
join samples s on s.key = f.subject
join kinds k on k.name = s.kind
left join review_requests r on r.subject = f.subject and r.kind = $1
left join acceptances a on a.subject = f.subject and a.withdrawn_at is null
where f.build = $2 and f.stage in ($4, $3) and list_contains(k.reviews, $1)
    and list_contains($5::varchar[], coalesce(a.grade, $6))
