"""Checking tools that were made, all of a toolset at once: too complex, redundant, and who has to be asked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from callwright.annotation.screens import TOOL_REVIEW
from callwright.flows.review.questions import DOUBTFUL, ReviewQuestion, request_row
from callwright.flows.stages import stages_of
from callwright.validators.toolset.complexity import check_complexity
from callwright.validators.toolset.redundancy import check_redundancy
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import Outcome, Tool, Verdict
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse

COMPLEXITY, REDUNDANCY, REVIEW = (stage.name for stage in stages_of("toolset_checks"))


def check_made_tools(warehouse: Warehouse, toolset: str) -> None:
    """Judge a toolset's tools, and ask people about those that a check did not prove."""
    tools = tools_of(warehouse, toolset)
    complexity = check_complexity(tools)
    simple = [tool for tool, verdict in zip(tools, complexity, strict=True) if verdict.decision != "contradicted"]
    redundancy = check_redundancy(simple)
    outcomes = _outcomes(toolset, complexity, redundancy)
    waiting = [(row["subject"], row["reason"]) for row in outcomes if row["outcome"] == "waiting"]
    warehouse.put_rows(
        {
            "verdicts": verdict_rows([*complexity, *redundancy]),
            "outcomes": outcomes,
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


def _outcomes(toolset: str, complexity: Sequence[Verdict], redundancy: Sequence[Verdict]) -> list[Row]:
    """What is contradicted waits where it was; what is unproved goes on, and waits at the review."""
    outcomes = [_outcome(toolset, COMPLEXITY, verdict) for verdict in complexity]
    outcomes += [_outcome(toolset, REDUNDANCY, verdict) for verdict in redundancy]
    before: Mapping[str, Verdict] = {verdict.subject: verdict for verdict in complexity}
    for verdict in redundancy:
        if verdict.decision != "contradicted":
            doubts = [one for one in (before[verdict.subject], verdict) if one.decision != "proved"]
            reason = " ".join(f"{one.check}: {one.reason}" for one in doubts)
            at_review = Outcome(
                build=toolset, stage=REVIEW, subject=verdict.subject, outcome="waiting" if doubts else "passed",
                reason_code="unproved" if doubts else "none", reason=reason,
            )  # fmt: skip
            outcomes.append(outcome_row(at_review))
    return outcomes


def _outcome(toolset: str, stage: str, verdict: Verdict) -> Row:
    kept = Outcome(
        build=toolset, stage=stage, subject=verdict.subject, reason=verdict.reason,
        outcome="waiting" if verdict.decision == "contradicted" else "passed",
        reason_code="none" if verdict.decision == "proved" else verdict.decision,
    )  # fmt: skip
    return outcome_row(kept)


def tool_request(toolset: str, subject: str, reason: str) -> Row:
    """The question to people about a tool, as a row."""
    return request_row(ReviewQuestion(subject, DOUBTFUL, reason, toolset, TOOL_REVIEW))


def verdict_rows(verdicts: Sequence[Verdict]) -> list[Row]:
    """Verdicts as rows of their table."""
    return [row for _, row in rows_of(verdicts, datetime.now(UTC))]
