-- name: forget
-- What people decided stays: the outcome at a check is theirs, whatever the check says by now.
delete from outcomes where build = ? and list_contains(?::varchar[], stage)
    and subject not in (select subject from decisions)

-- name: unmeet
delete from build_checks where build = ? and list_contains(?::varchar[], check_name)

-- name: meet
insert into build_checks (build, check_name, version) select ?, unnest(?::varchar[]), unnest(?::varchar[])

-- name: lacking
-- The checks that a sample lacks are the bits of a mask: all before the one that stopped it, without those it met.
with checks as (
    select unnest(names) as name, unnest(range(len(names))) as bit from (select ?::varchar[] as names)
), met as (
    select f.subject, bit_or(1::bigint << c.bit) as bits, min(c.bit) filter (f.outcome <> 'passed') as stopped
    from outcomes f join checks c on c.name = f.stage where f.build = ? group by f.subject
), masks as (
    select b.sample, ((1::bigint << coalesce(m.stopped, ?)) - 1) & ~coalesce(m.bits, 0) as mask
    from build_samples b left join met m on m.subject = b.sample where b.build = ?
), lacking as (select * from masks where mask <> 0)

-- name: undo_behind
delete from outcomes using (
    select f.subject, min(t.position) as stopped from outcomes f join stages t on t.name = f.stage
    where f.build = ? and list_contains(?::varchar[], f.stage) and f.outcome <> 'passed' group by f.subject
) s, stages t
where outcomes.build = ? and outcomes.subject = s.subject and t.name = outcomes.stage and t.position > s.stopped

-- name: undo_reviews
-- A check looked at a sample after its review: that begins anew where people wait for it, and where the check proved nothing.
delete from outcomes where build = ? and list_contains(?::varchar[], stage)
    and subject not in (select subject from decisions)
    and subject in (
        select r.subject from outcomes r
        join outcomes f on f.build = r.build and f.subject = r.subject and f.made_at > r.made_at
        where r.build = ? and r.stage = ? and list_contains(?::varchar[], f.stage)
            and (r.outcome = 'waiting' or f.reason_code = 'unproved')
    )

-- name: withdraw
update acceptances set withdrawn_at = now() where build = ? and withdrawn_at is null and decided_by = 'machine'
    and not exists (
        select 1 from outcomes f where f.build = acceptances.build and f.subject = acceptances.subject
            and f.stage = ? and f.outcome = 'passed'
    )

-- name: by_mask
@lacking select mask, count(*) as samples from lacking group by mask order by mask

-- name: of_mask
@lacking select body from lacking join samples on key = sample where mask = ? order by key

-- name: stopped
select stage, list(subject order by subject) as subjects from outcomes
where build = ? and outcome = 'waiting' and list_contains(?::varchar[], subject) group by stage
