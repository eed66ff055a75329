-- name: grounds
-- What samples rest on: the evidence of the newest grounding verdict, grade, models that read them blind, and people who looked.
with asked as (
    select unnest(?::varchar[]) as key
), grounding as (
    select subject, arg_max(evidence, made_at) as evidence
    from verdicts where check_name = 'grounding' and subject in (select key from asked) group by subject
), looked as (
    select subject, list_sort(list_distinct(list(reviewer))) as people
    from reviews where withdrawn_at is null and subject in (select key from asked) group by subject
)
select q.key, g.evidence::varchar as evidence, a.grade, a.judged_by as readers, w.people
from asked q left join grounding g on g.subject = q.key left join acceptances a on a.subject = q.key and a.withdrawn_at is null
left join looked w on w.subject = q.key
