"""What people decided about tools: the outcomes that follow from it, and which tools a build may use."""

from annotation.screens import TOOL_REVIEW
from flows.review.decisions import UNCHECKED
from flows.review.standings import Decision, Resolution, Seat, resolution_of, settled
from flows.stages import stages_of
from flows.tool_checking import check_edited_tool, tool_request, tools_of, verdict_rows
from warehouse.outcomes import outcome_row
from warehouse.records import Outcome, Tool
from warehouse.releases import read_tools
from warehouse.rows import Row
from warehouse.store import Warehouse

_STAGES = [stage.name for stage in stages_of("toolset_checks")]
REVIEW = _STAGES[-1]


def settle_tools(warehouse: Warehouse) -> None:
    """Bring the outcomes of tools to what people decided; only the difference is written."""
    resolutions = _resolutions(warehouse)
    if not resolutions:
        return
    outcomes: list[Row] = []
    for row in warehouse.rows(_SEATS, [_STAGES, TOOL_REVIEW]):
        seat = Seat(**row)
        outcomes += _settled(seat, resolutions[seat.subject])
    warehouse.put_rows({"outcomes": outcomes})


def settle_edited_tools(warehouse: Warehouse) -> int:
    """Check the tools that people wrote, ask again about those that a check contradicts, and settle; how many those are."""
    against = 0
    for row in warehouse.rows(_UNSEEN, [TOOL_REVIEW]):
        tool = read_tools(warehouse, [row["key"]])[row["key"]]
        parents = set(row["parents"])
        verdicts = check_edited_tool(tool, [one for one in tools_of(warehouse, row["build"]) if one.key not in parents])
        problems = [verdict.reason for verdict in verdicts if verdict.decision == "contradicted"]
        against += bool(problems)
        said = f"As edited by {row['reviewer']}: {' '.join(problems)}"
        requests = [tool_request(row["build"], tool.key, said)] if problems else []
        warehouse.put_rows({"verdicts": verdict_rows(verdicts), "review_requests": requests})
    settle_tools(warehouse)
    return against


def _settled(seat: Seat, resolution: Resolution) -> list[Row]:
    at_seat = settled(seat, seat.stage, resolution)
    if at_seat == Outcome(**seat._asdict()):
        return []
    onward = _STAGES[_STAGES.index(seat.stage) :] if resolution.outcome == "passed" else [seat.stage]
    return [outcome_row(at_seat.with_changes(stage=stage)) for stage in onward]


def usable_tools(warehouse: Warehouse, toolset: str) -> tuple[Tool, ...]:
    """The tools of a toolset that passed, each as people left it, in a fixed order."""
    passed = warehouse.rows(
        "select subject from outcomes where build = ? and stage = ? and outcome = 'passed'", [toolset, REVIEW]
    )
    resolutions = _resolutions(warehouse)
    keys = {resolutions[row["subject"]].subject if row["subject"] in resolutions else row["subject"] for row in passed}
    tools = read_tools(warehouse, sorted(keys)).values()
    return tuple(sorted(tools, key=lambda tool: (tool.category, tool.language, tool.name, tool.key)))


def _resolutions(warehouse: Warehouse) -> dict[str, Resolution]:
    """What comes of each decided tool, by its key."""
    rows = warehouse.rows_by_name(
        {"decisions": (_DECISIONS, [TOOL_REVIEW]), "doubts": (_DOUBTS, [UNCHECKED, TOOL_REVIEW])}
    )
    decisions = {row["subject"]: Decision(**row | {"reasons": tuple(row["reasons"])}) for row in rows["decisions"]}
    doubts = {row["subject"]: row["reason"] for row in rows["doubts"]}
    return {subject: resolution_of(subject, decisions, doubts) for subject in decisions}


_DECISIONS = "select subject, decision, reviewer, reviewed_at, reasons, result from decisions where kind = ?"

# Why a tool that a person wrote can't be used as it is: no check has seen it yet, or one contradicts it.
_DOUBTS = """
    with newest as (
        select subject, check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
        from verdicts group by all
    )
    select d.result as subject,
        coalesce(string_agg(n.reason, ' ' order by n.check_name) filter (n.decision = 'contradicted'), ?) as reason
    from decisions d left join newest n on n.subject = d.result
    where d.kind = ? and d.decision = 'edit' group by d.result
    having count(n.subject) = 0 or bool_or(n.decision = 'contradicted')
"""

_UNSEEN = """
    select d.result as key, any_value(d.reviewer) as reviewer, list(distinct d.subject) as parents, min(q.build) as build
    from decisions d join review_requests q on q.subject = d.subject and q.kind = d.kind
    where d.kind = ? and d.decision = 'edit' and not exists (select 1 from verdicts v where v.subject = d.result)
    group by d.result order by all
"""

_SEATS = """
    select f.* exclude (made_at)
    from (select distinct toolset, tool from made_tools) m
    join outcomes f on f.build = m.toolset and f.subject = m.tool join stages t on t.name = f.stage
    where list_contains(?, f.stage) and exists (select 1 from decisions d where d.subject = f.subject and d.kind = ?)
    qualify row_number() over (partition by f.build, f.subject order by t.position desc) = 1
    order by f.build, f.subject
"""
