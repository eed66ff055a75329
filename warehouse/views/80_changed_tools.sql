-- What a candidate answered with changed tools (`after`), beside its answers with the tools as they are: an item a row, of first runs.
create or replace macro changed_tool_pairs() as table
    with items as (
        select * from prediction_items where run = 0 and is_right is not null and due is not null
        qualify row_number() over (
            partition by release, candidate, strategy, tools_shown, sample, turn order by mode <> 'as_paper', judge <> '', made_at desc
        ) = 1
    )
    select
        b.release, b.candidate, c.plain_strategy, c.strategy, b.tools_shown, b.sample, b.due, b.is_right as before, a.is_right as after,
        b.prediction as prediction_before, a.prediction as prediction_after
    from (select distinct release, strategy, plain_strategy from tool_changes) c
    join items b on b.release = c.release and b.strategy = c.plain_strategy
    join items a on a.release = c.release and a.strategy = c.strategy and a.candidate = b.candidate and a.tools_shown = b.tools_shown
        and a.sample = b.sample and a.turn is not distinct from b.turn;

-- Which changed words of tools help: each candidate that was shown changed tools (evaluate --tools) beside itself with the
-- tools as they are, over the samples that both answered in their first runs, in each split and ('') in all. One row per due
-- tool, '' where no call is due, null over all samples. A sample counts for each tool that is due in it, and is right if all
-- answers at which the tool is due are. `difference` is paired (`low` and `high`: 95 %, Wald); `p_value` is McNemar's exact
-- test. Slow over everything: ask for a release.
create or replace view changed_tool_effects as
with pairs as (
    select
        p.*, unnest(list_distinct(['', coalesce(m.split, '')])) as split,
        if(p.due = '[]', [''], list_distinct(json_extract_string(p.due, '$[*].tool'))) as tools
    from changed_tool_pairs() p left join release_samples m on m.release = p.release and m.subject = p.sample
), by_sample as (
    select release, split, candidate, plain_strategy, strategy, tools_shown, tool, sample,
        bool_and(before) as before, bool_and(after) as after
    from (select *, unnest(list_append(tools, null)) as tool from pairs) group by all
), counted as (
    select
        release, split, candidate, plain_strategy, strategy, tools_shown, tool, count(*) as samples,
        count(*) filter (after and not before) as better, count(*) filter (before and not after) as worse,
        count(*) filter (before and after) as both_right, count(*) filter (not before and not after) as both_wrong
    from by_sample group by all
), changes as (
    select release, strategy, tool, any_value(shown_name) as shown_name, list_distinct(flatten(list(changed order by language))) as changed
    from tool_changes group by all
)
select
    c.release, c.split, c.candidate, c.plain_strategy, c.strategy, c.tools_shown, c.tool, coalesce(w.shown_name, c.tool) as shown_name,
    list_sort(coalesce(w.changed, [])) as changed, c.samples as n_samples, c.better as n_better, c.worse as n_worse, c.both_right as n_both_right, c.both_wrong as n_both_wrong, (c.better - c.worse) / c.samples as difference,
    (c.better - c.worse) / c.samples - paired_half(c.better, c.worse, c.samples) as low,
    (c.better - c.worse) / c.samples + paired_half(c.better, c.worse, c.samples) as high,
    paired_p_value(c.better, c.worse) as p_value
from counted c left join changes w using (release, strategy, tool)
order by c.release, c.split, c.candidate, c.strategy, c.tools_shown, c.tool is not null, abs(c.better - c.worse) desc, c.better + c.worse desc, c.tool;
