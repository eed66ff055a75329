-- What landed without people, a row a sample with its grade, also where people took it back; `is_good` is what they decided about
-- those that were drawn at random, null where nobody looked.
create or replace view grade_reviews as
with drawn as (
    select d.subject, bool_and(d.decision = 'accept') as is_good
    from decisions d join review_requests q on q.subject = d.subject and q.kind = d.kind
    where q.cause = 'spot check' and q.kind <> 'dialogue_acts' group by d.subject
)
select a.subject, a.build, a.recipe, a.grade, is_template(s.model, b.generator, a.grade, a.judged_by) as of_template, r.is_good
from acceptances a
join samples s on s.key = a.subject
left join made_by b on b.key = a.build
left join drawn r on r.subject = a.subject
where a.grade <> 'vouched' and (a.withdrawn_at is null or not r.is_good);
