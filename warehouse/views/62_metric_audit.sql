-- How often people find the metric (by rule) right about a model's answers, by what it said of them: `error_type` is '' where it
-- counted them right. Of `n_answers` of this kind `n_drawn` were drawn and `n_audited` are decided; `n_agreed` of these say that the metric
-- is right, `reasons` are what the others say, with how often. All are drawn alike however many answers there are, so a share over
-- several rows weighs each by its `n_answers`. A draw of which the metric says something else by now is left out.
create or replace view metric_audit as
with counted as (
    select p.release, p.candidate, p.error_type, count(*) as n_answers
    from predictions p where p.error_type is not null group by all
), drawn as (
    select a.release, a.candidate, a.error_type, d.decision, d.reasons
    from audit_draws a
    left join decisions d on d.subject = a.prediction and d.kind = 'prediction_audit'
    left join predictions p on p.key = a.prediction
    where p.key is null or p.error_type = a.error_type
), told as (
    select release, candidate, error_type, histogram(reason) as reasons
    from (select release, candidate, error_type, unnest(reasons) as reason from drawn where decision = 'reject') group by all
)
select
    w.release, w.candidate, w.error_type, any_value(coalesce(c.n_answers, 0)) as n_answers, count(*) as n_drawn,
    count(w.decision) as n_audited, count(*) filter (w.decision = 'accept') as n_agreed,
    count(*) filter (w.decision = 'accept') / nullif(count(w.decision), 0) as metric_right_share, any_value(t.reasons) as reasons
from drawn w left join counted c using (release, candidate, error_type) left join told t using (release, candidate, error_type)
group by w.release, w.candidate, w.error_type
order by w.release, w.candidate, w.error_type;

-- How precise the metric by rule is, as people find it: of each candidate of a release the share of the answers counted right that are
-- right, of those counted wrong that are wrong (`is_counted_right` is true, false), and of all (null). Each error type weighs as many answers as
-- it has; the bounds are those of 95 % (Wilson, over the answers that were audited).
create or replace view metric_precision as
with said as (
    select release, candidate, error_type = '' as is_counted_right, n_answers, n_audited, metric_right_share as share
    from metric_audit where n_audited > 0
), weighed as (
    select release, candidate, is_counted_right, sum(n_answers)::bigint as n_answers, sum(n_audited)::bigint as n_audited,
        sum(share * n_answers) / sum(n_answers) as share
    from said group by grouping sets ((release, candidate, is_counted_right), (release, candidate))
), bounded as (
    select *, share_interval(share * n_audited, n_audited) as bounds from weighed
)
select release, candidate, is_counted_right, n_answers, n_audited, share as metric_right_share, bounds.low as low, bounds.high as high
from bounded order by release, candidate, is_counted_right nulls last;
