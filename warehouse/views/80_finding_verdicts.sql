-- What people say of findings: in a file, or in a review of the finding, where a reason tells what is true and no defect.
create or replace view finding_verdicts as
select j.finding, a.source, j.verdict, j.person, j.note, j.judged_at from finding_judgements j join data_audits a on a.key = j.audit
union all
select v.subject, f.source, if(v.decision = 'accept', 'confirmed', if(list_contains(v.reasons, 'noted'), 'noted', 'refused')),
    v.reviewer, v.comment, v.reviewed_at
from standing_reviews v
join (select distinct f.key, a.source from findings f join data_audits a on a.key = f.audit) f on f.key = v.subject
where v.kind = 'finding_review';
