-- What became of each record, typed: why (`reason_code`), who decided, and the sample whose decision an outcome follows where that is
-- another one. Until now people's decisions were read out of the sentence in `reason`; this reads them there for the last time.
create table outcomes (
    build varchar not null, stage varchar not null, subject varchar not null,
    outcome varchar not null check (outcome in ('passed', 'rejected', 'failed', 'waiting')),
    reason_code varchar not null check (reason_code in (
        'none', 'not_applicable', 'unproved', 'contradicted', 'error', 'duplicate', 'accepted', 'rejected', 'edited', 'taken'
    )),
    reason varchar not null, decided_by varchar not null check (decided_by in ('machine', 'person')),
    decided_who varchar not null, carried_from varchar not null, made_at timestamptz not null
);
insert into outcomes
with edited as (
    select result, any_value(subject) as parent from reviews where result is not null group by result
), parts as (
    select f.*,
        regexp_matches(f.reason, '^(Accepted|Rejected|Edited) by ') as of_person,
        regexp_extract(f.reason, '(?:^|\. )Accepted by (.*?)\.(?: That sample is there already\.)?$', 1) as acceptor,
        regexp_extract(f.reason, '(?:^|\. )Rejected by (.*?): ', 1) as rejector,
        regexp_extract(f.reason, '^Edited by (.*?) as [0-9a-f]{24}\.', 1) as editor,
        regexp_extract(f.reason, '^Edited by .*? as ([0-9a-f]{24})\.', 1) as edit
    from fates f
)
select
    p.build, p.stage, p.subject, p.outcome,
    case
        when p.of_person and ends_with(p.reason, 'That sample is there already.') then 'taken'
        when p.of_person and p.outcome = 'rejected' and p.rejector <> '' then 'rejected'
        when p.of_person and p.acceptor <> '' then 'accepted'
        when p.of_person and p.rejector <> '' then 'rejected'
        when p.of_person then 'edited'
        when p.outcome = 'failed' then 'error'
        when p.outcome = 'rejected' and (p.stage = 'duplicates' or starts_with(p.reason, 'Another draft had already become this very '))
            then 'duplicate'
        when p.outcome = 'rejected' then 'unproved'
        when p.outcome = 'waiting' then if(p.stage in ('review', 'tool_review'), 'unproved', 'contradicted')
        when p.reason = 'The stage does not apply to this kind.' then 'not_applicable'
        when p.reason <> '' and exists (
            select 1 from verdicts v where v.subject = p.subject and v.check_name = p.stage and v.decision = 'unproved'
        ) then 'unproved'
        else 'none'
    end,
    p.reason, if(p.of_person, 'person', 'machine'),
    case when not p.of_person then '' else coalesce(nullif(p.rejector, ''), nullif(p.acceptor, ''), p.editor) end,
    case when not p.of_person or p.edit = '' then '' when p.edit = p.subject then coalesce(e.parent, '') else p.edit end,
    p.made_at
from parts p left join edited e on e.result = p.subject;
drop table fates;

-- Who let a sample land, as a kind beside the name.
alter table acceptances add column decided_by varchar;
update acceptances set decided_by = if(accepted_by = 'machine', 'machine', 'person');

-- A review that follows from one about something else (the corrected path that a sample was made after) names that thing.
alter table reviews add column carried_from varchar;
update reviews set carried_from = if(
    kind = 'correction' and annotation_id = 0, regexp_extract(comment, '^Decided about the correction of its path, ([0-9a-f]{24})\.$', 1), ''
);

-- What a question says against the gold: the same answer is asked about once.
alter table review_requests add column against varchar;
update review_requests set against = if(cause = 'suspect', regexp_extract(reason, 'candidates answer(?: at call turn \d+ of \d+)? (.*)\.$', 1), '');
alter table review_rounds add column against varchar;
update review_rounds set against = if(cause = 'suspect', regexp_extract(problem, 'candidates answer(?: at call turn \d+ of \d+)? (.*)\.$', 1), '');
