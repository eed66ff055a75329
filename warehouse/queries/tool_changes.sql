-- name: made
-- Which changes of its tools a release was evaluated with, and by whom of those who have answered with the tools as they are too.
select distinct c.strategy, c.plain_strategy, c.name, c.first_asked_at, r.candidate, r.tools_shown, exists (
    from sample_results b where b.release = c.release and b.candidate = r.candidate and b.strategy = c.plain_strategy
        and b.tools_shown = r.tools_shown
) as is_paired
from (
    select release, strategy, any_value(plain_strategy) as plain_strategy, any_value(name) as name, min(first_asked_at) as first_asked_at
    from tool_changes where release = $1 group by all
) c join (select distinct release, candidate, strategy, tools_shown from sample_results) r on r.release = c.release and r.strategy = c.strategy
order by c.first_asked_at desc, r.candidate, r.tools_shown

-- name: of_change
-- $1 to $5 are a release, a candidate, a strategy with changed tools, which tools were shown at later snapshots, a split.
release = $1 and candidate = $2 and strategy = $3 and tools_shown = $4

-- name: effects
select * rename (
    n_samples as samples, n_better as better, n_worse as worse, n_both_right as both_right, n_both_wrong as both_wrong
) from changed_tool_effects where @of_change and split = $5
order by tool is not null, abs(better - worse) desc, better + worse desc, len(changed) = 0, tool

-- name: confusions
-- Over the same answers as changed_tool_effects.
from (
    select c.due_tool, c.called_tool, count(*) filter (c.prediction = p.prediction_before) as before,
        count(*) filter (c.prediction = p.prediction_after) as after
    from (from changed_tool_pairs() where @of_change) p
    join tool_confusions c on c.release = $1 and c.prediction in (p.prediction_before, p.prediction_after)
    group by c.due_tool, c.called_tool
)
order by 'no call' in (due_tool, called_tool), abs(after - before) desc, after desc, due_tool, called_tool

-- name: metrics
select a.metric, a.judge, b.value as before, a.value as after, a.value - b.value as difference, i.low, i.high, a.count
from scores a join (select distinct release, strategy, plain_strategy from tool_changes) c using (release, strategy)
join scores b on b.release = a.release and b.strategy = c.plain_strategy and b.candidate = a.candidate and b.tools_shown = a.tools_shown
    and b.split = a.split and b.run = a.run and b.judge = a.judge and b.metric = a.metric and b.snapshots = a.snapshots
    and b.slice_by = a.slice_by and b.slice_value = a.slice_value
left join tool_change_intervals i on i.release = a.release and i.split = a.split and i.candidate = a.candidate
    and i.strategy = a.strategy and i.tools_shown = a.tools_shown and i.metric = a.metric and a.judge = ''
where a.release = $1 and a.candidate = $2 and a.strategy = $3 and a.tools_shown = $4 and a.split = $5 and a.run = 0 and a.slice_by = 'all'
    and a.snapshots = 'all'
order by a.metric, a.judge

-- name: tools
select tool, language, shown_name, changed, words, shown from tool_changes where release = $1 and strategy = $2 order by tool, language
