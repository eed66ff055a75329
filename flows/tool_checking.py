"""Checking tools that were made, all of a toolset at once: too complex, redundant, and who has to be asked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from annotation.screens import TOOL_REVIEW
from flows.review.questions import DOUBTFUL, Question, request_row
from flows.stages import stages_of
from validators.toolset.complexity import check_complexity
from validators.toolset.redundancy import check_redundancy
from warehouse.records import Tool, Verdict
from warehouse.releases import read_tools
from warehouse.rows import Row, Stamp, rows_of
from warehouse.store import Warehouse

COMPLEXITY, REDUNDANCY, REVIEW = (stage.name for stage in stages_of("toolset_checks"))


def check_made_tools(warehouse: Warehouse, toolset: str) -> None:
    """Judge a toolset's tools, and ask people about those that a check did not prove."""
    tools = tools_of(warehouse, toolset)
    complexity = check_complexity(tools)
    simple = [tool for tool, verdict in zip(tools, complexity, strict=True) if verdict.decision != "contradicted"]
    redundancy = check_redundancy(simple)
    fates = _fates(toolset, complexity, redundancy)
    waiting = [(row["subject"], row["reason"]) for row in fates if row["outcome"] == "waiting"]
    warehouse.put_rows(
        {
            "verdicts": verdict_rows([*complexity, *redundancy]),
            "fates": fates,
            "review_requests": [tool_request(toolset, subject, reason) for subject, reason in waiting],
        }
    )


def check_edited_tool(tool: Tool, company: Sequence[Tool]) -> list[Verdict]:
    """Judge a tool that a person wrote, beside the others of its toolset."""
    others = [other for other in company if (other.category, other.language) == (tool.category, tool.language)]
    return [check([*others, tool])[-1] for check in (check_complexity, check_redundancy)]


def tools_of(warehouse: Warehouse, toolset: str) -> list[Tool]:
    """Every tool that a toolset made, in the order in which the first of its kind keeps its place."""
    rows = warehouse.rows("select tool from made_tools where toolset = ?", [toolset])
    tools = read_tools(warehouse, [row["tool"] for row in rows]).values()
    return sorted(tools, key=lambda tool: (tool.category, tool.language, tool.name, tool.key))


def _fates(toolset: str, complexity: Sequence[Verdict], redundancy: Sequence[Verdict]) -> list[Row]:
    """What is contradicted waits where it was; what is unproved goes on, and waits at the review."""
    fates = [_fate(toolset, COMPLEXITY, verdict) for verdict in complexity]
    fates += [_fate(toolset, REDUNDANCY, verdict) for verdict in redundancy]
    before: Mapping[str, Verdict] = {verdict.subject: verdict for verdict in complexity}
    for verdict in redundancy:
        if verdict.decision != "contradicted":
            doubts = [one for one in (before[verdict.subject], verdict) if one.decision != "proved"]
            reason = " ".join(f"{one.check}: {one.reason}" for one in doubts)
            fates.append(fate(toolset, REVIEW, verdict.subject, "waiting" if doubts else "passed", reason))
    return fates


def _fate(toolset: str, stage: str, verdict: Verdict) -> Row:
    outcome = "waiting" if verdict.decision == "contradicted" else "passed"
    return fate(toolset, stage, verdict.subject, outcome, verdict.reason)


def fate(toolset: str, stage: str, subject: str, outcome: str, reason: str) -> Row:
    """The fate of a tool at a stage, as a row."""
    return {
        "build": toolset, "stage": stage, "subject": subject, "outcome": outcome, "reason": reason,
        "made_at": datetime.now(UTC),
    }  # fmt: skip


def tool_request(toolset: str, subject: str, reason: str) -> Row:
    """The question to people about a tool, as a row."""
    return request_row(Question(subject, DOUBTFUL, reason, toolset, TOOL_REVIEW))


def verdict_rows(verdicts: Sequence[Verdict]) -> list[Row]:
    """Verdicts as rows of their table."""
    return [row for _, row in rows_of(verdicts, Stamp(datetime.now(UTC)))]
