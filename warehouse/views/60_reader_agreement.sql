-- What people say of the samples that a reader has read (the check reading), by build, language and family, over all
-- that they decided ('') and by what they were asked for: `spot check` is drawn at random from what landed, `doubtful` is what
-- waited for them. `n_both_right`: the reader chose the gold alone and people accepted it; `n_missed`: they turned away what it chose;
-- `n_doubted`: it doubted what they accepted; `n_both_doubt`: neither takes it. `kappa` is Cohen's, null where chance alone leaves no room.
-- `wrong_share` is the share that people turned away of what the reader agreed with; of spot checks it is its error, with Wilson's 95 % bounds.
create or replace view reader_agreement as
with people as (
    select d.subject, bool_and(d.decision = 'accept') as accepts, coalesce(any_value(q.cause), '') as cause
    from decisions d left join review_requests q on q.subject = d.subject and q.kind = d.kind
    where d.kind <> 'dialogue_acts' group by d.subject
), said as (
    select b.build, v.model as reader, s.language, coalesce(k.family, s.kind) as family, p.cause, p.accepts, v.decision = 'proved' as chooses
    from all_newest_verdicts v join people p on p.subject = v.subject join samples s on s.key = v.subject
    join build_samples b on b.sample = v.subject left join kinds k on k.name = s.kind
    where v.check_name = 'reading' and v.model <> ''
), counted as (
    select build, reader, language, family, cause, count(*) as n_samples, count(*) filter (chooses and accepts) as n_both_right,
        count(*) filter (chooses and not accepts) as n_missed, count(*) filter (not chooses and accepts) as n_doubted,
        count(*) filter (not chooses and not accepts) as n_both_doubt
    from (select * from said where cause <> '' union all select * replace ('' as cause) from said) group by all
), shares as (
    select *, (n_both_right + n_both_doubt) / n_samples as agreement_share,
        ((n_both_right + n_missed) * (n_both_right + n_doubted) + (n_both_doubt + n_missed) * (n_both_doubt + n_doubted)) / (n_samples * n_samples) as by_chance
    from counted
)
select * exclude (by_chance), (agreement_share - by_chance) / nullif(1 - by_chance, 0) as kappa,
    n_missed / nullif(n_both_right + n_missed, 0) as wrong_share, share_interval(n_missed, n_both_right + n_missed).low as wrong_low,
    share_interval(n_missed, n_both_right + n_missed).high as wrong_high
from shares
order by build, reader, language, family, cause;
