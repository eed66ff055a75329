-- name: pass_all
insert into outcomes
    (build, stage, subject, outcome, reason_code, reason, decided_by, decided_who, carried_from, made_at)
select ?, ?, key, 'passed', 'none', '', 'machine', '', '', now() from (@keys)

-- name: repeated
update outcomes set outcome = 'rejected', reason_code = 'duplicate', reason = ?
where build = ? and list_contains(?::varchar[], stage) and outcome = 'passed'
    and not exists (select 1 from @table m where m.@build = outcomes.build and m.draft = outcomes.subject)

-- name: remove
delete from outcomes using (
    select unnest(?::varchar[]) as build, unnest(?::varchar[]) as stage, unnest(?::varchar[]) as subject
) g where outcomes.build = g.build and outcomes.stage = g.stage and outcomes.subject = g.subject
