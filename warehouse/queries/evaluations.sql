-- name: of_split
left join (select release as of_release, subject as of_sample, split from release_samples) m

-- name: items
-- All items of the releases that the condition on `release` lets through.
items as (
    select p.release, p.candidate, p.strategy, p.tools_shown, p.run,
        @contestant as contestant,
        p.subject as sample, p.turn, p.key as prediction,
        case when p.error_type is null then null else p.error_type = '' end as verdict,
        coalesce(p.error_type, '') as error_type, s.kind, s.language, s.category, coalesce(m.split, '') as split
    from predictions p join samples s on s.key = p.subject @of_split on m.of_release = p.release and m.of_sample = p.subject
    where @releases
    union all
    select r.release, r.candidate, r.strategy, 'first', r.run,
        candidate || '~' || strategy || '~first~' || run,
        r.subject, -1, r.key, r.success, if(r.success, '', coalesce(nullif(r.error_type, ''), 'no_success')),
        s.kind, s.language, s.category, coalesce(m.split, '') as split
    from (
        from multi_step_runs where @releases qualify row_number() over (
            partition by release, candidate, strategy, run, subject order by mode <> 'as_paper', judge <> '', made_at desc
        ) = 1
    ) r join samples s on s.key = r.subject @of_split on m.of_release = r.release and m.of_sample = r.subject
)

-- name: contestant
candidate || '~' || strategy || '~' || tools_shown || '~' || run

-- name: board
-- A row a contestant of these releases, the best of each first; one that judges have scored has a row in the view by each.
select release, @contestant as contestant, candidate, strategy, tools_shown, run, n_items, n_judged, n_right, right_share, right_low,
    right_high, cost
from (select l.*, r.created_at from leaderboard l left join releases r on r.name = l.release where split = '')
where @releases and n_items is not null
qualify row_number() over (partition by release, candidate, strategy, tools_shown, run order by judge) = 1
order by created_at desc nulls last, release, right_share desc nulls last, contestant

-- name: shown
-- What is shown of an item: the calls that were due and those that were made, of a multi-step sample those of all its steps.
select i.sample as of_sample, i.prediction, i.release, i.candidate, i.strategy, i.tools_shown, i.run, i.sample, i.kind, i.language, i.category,
    i.turn, i.snapshot, i.n_snapshots, if(i.turn is null, to_json(json_extract(s.body, '$.turns[*].calls[*]')), i.due) as due,
    i.calls, i.text, i.problem, i.is_right, coalesce(i.error_type, '') as error_type, i.is_right_by_judge, i.mode, i.judge,
    coalesce(list_filter(
        json_extract(s.body, '$.turns[*]')[:i.turn], lambda one: json_extract_string(one, '$.kind') = 'user'
    )[-1] ->> 'text', s.request) as request
from prediction_items i join samples s on s.key = i.sample

-- name: mistakes
with @items select release, contestant, error_type, count(*) as items from items
where not verdict group by all order by all

-- name: releases_asked
select r.name, r.samples, r.created_at, r.note, r.content_hash, r.version, count(distinct p.candidate) as candidates
from releases r left join (
    select distinct release, candidate from predictions union select distinct release, candidate from multi_step_runs
) p on p.release = r.name
group by all order by r.created_at desc

-- name: release
select * from releases where name = ?

-- name: slices
with @items select slice_by, slice_value, contestant, count(verdict) as n_judged, count(*) filter (verdict) as n_right
from (unpivot items on kind, language, category, split into name slice_by value slice_value)
group by all having n_judged > 0 order by slice_by, slice_value

-- name: errors
with @items select contestant, kind, error_type, count(*) as items from items
where not verdict group by all order by kind

-- name: metrics
select * exclude (value), value from scores
where release = ? and split = '' and slice_by = 'all' and snapshots = 'all' order by metric

-- name: passes
select * from pass_k where release = ? and split = '' and kind = 'all' and n_runs > 1
order by candidate, strategy, tools_shown, mode, judge, k

-- name: means
select * from run_means where release = ? and split = '' and slice_by = 'all' and snapshots = 'all' and n_runs > 1
order by metric, candidate, strategy, tools_shown, judge

-- name: confusions
with @items select contestant, due_tool, called_tool, count(*) as items
from items join (select prediction, due_tool, called_tool from tool_confusions where @releases) using (prediction)
group by contestant, due_tool, called_tool
order by contestant, 'no call' in (due_tool, called_tool), items desc, due_tool, called_tool

-- name: confused_tools
prediction in (select prediction from tool_confusions where @releases and due_tool = @due and called_tool = @called)

-- name: by_sample
sample, turn, contestant

-- name: worst_first
-- By what is wrong, and before others what most candidates get right.
coalesce(verdict, true), coalesce(list_position(@severity, error_type), 99), others_right desc, sample, turn, contestant

-- name: found
with @items, beside as (
    select *, avg(verdict::int) over (partition by sample, turn) as others_right from items
)
select prediction, count(*) over () as total from beside where @condition order by @order limit @size offset @start

-- name: paired
with @items, paired as (
    select a.sample, a.turn, a.kind, a.verdict as one_right, b.verdict as other_right,
        a.prediction as one, b.prediction as other
    from items a join items b on b.sample = a.sample and b.turn = a.turn
    where a.contestant = $2 and b.contestant = $3 and a.verdict is not null and b.verdict is not null
)

-- name: passing
count(*) as samples, count(*) filter (one_passes and other_passes) as both_pass,
count(*) filter (one_passes and not other_passes) as only_one,
count(*) filter (other_passes and not one_passes) as only_other,
count(*) filter (not one_passes and not other_passes) as neither_passes
from (
    select sample, kind, bool_and(one_right) as one_passes, bool_and(other_right) as other_passes from paired group by all
)

-- name: counts
@paired select @passing

-- name: kinds
@paired select kind, @passing group by kind order by kind

-- name: differing
@paired select count(*) as items from paired where @condition

-- name: differing_items
@paired select * from paired where @condition
order by one_right, sample, turn limit @size offset @start

-- name: of_predictions
-- A list of values reaches the tables beneath the view, a query does not.
@shown where i.prediction in (@places)
