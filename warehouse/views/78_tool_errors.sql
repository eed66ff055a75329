-- Which tools are called wrong, in which language: of the items at which a tool is due, how many a candidate got wrong. A row a release,
-- candidate, language and tool; '' is where no call is due. An item with several due tools counts for each. It reads the bodies of
-- the samples that were answered: ask for a release.
create or replace view tool_errors as
select
    release, candidate, strategy, tools_shown, run, language, tool, count(*) as n_items, count(*) filter (not is_right) as n_wrong,
    count(*) filter (not is_right) / count(*) as wrong_share
from (
    select *, unnest(if(due = '[]', [''], list_distinct(json_extract_string(due, '$[*].tool')))) as tool
    from prediction_items where is_right is not null and due is not null
)
group by all order by release, candidate, strategy, tools_shown, run, wrong_share desc, n_wrong desc, language, tool;

-- Which tool was called in place of which: a row an item that went wrong and a pair of a due tool that was not called and a called one
-- that was not due, 'no call' where one side has no more. It reads the bodies of the samples that were answered: ask for a release.
create or replace view tool_confusions as
select * exclude (extra), unnest(extra) as called_tool from (
    select * exclude (missing, extra), unnest(if(len(missing) = 0, ['no call'], missing)) as due_tool,
        if(len(extra) = 0, ['no call'], extra) as extra
    from (
        select * exclude (due, made), list_filter(due, lambda one: not list_contains(made, one)) as missing,
            list_filter(made, lambda one: not list_contains(due, one)) as extra
        from (
            select
                release, candidate, strategy, tools_shown, run, language, sample, turn, prediction,
                list_distinct(json_extract_string(due, '$[*].tool')) as due, list_distinct(json_extract_string(calls, '$[*].tool')) as made
            from prediction_items where not is_right and due is not null and calls is not null
        )
    ) where len(missing) + len(extra) > 0
);
