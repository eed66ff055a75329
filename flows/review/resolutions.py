"""People's decisions about samples and tools, and what follows from them.

Tools that were made are checked here, a toolset at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
)
from callwright.flows.recipe import LANDED_GRADES
from callwright.flows.review.questions import DOUBTFUL, ReviewQuestion, request_row
from callwright.flows.stages import LANDING, LANDING_GROUP, stage_names, stages_of
from callwright.validators.toolset.complexity import check_complexity
from callwright.validators.toolset.redundancy import check_redundancy
from callwright.warehouse.outcomes import outcome_row, remove_outcomes
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    ClaimGrade,
    Outcome,
    ReasonCode,
    ReviewDecision,
    Tool,
    Verdict,
)
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse


class Decision(NamedTuple):
    """The decision that counts about a sample; `result` is the key of its edited version."""

    subject: str
    decision: ReviewDecision
    reviewer: str
    reviewed_at: datetime
    reasons: tuple[str, ...] = ()
    result: str | None = None
    kind: str = ""


class Resolution(NamedTuple):
    """The outcome of a decided sample: `subject` lands in its place if it is "passed".

    `reason_code` and `reason` are those of the decision that counts, `reviewer` is who made it.
    """

    outcome: Literal["passed", "rejected", "waiting"]
    subject: str
    reviewer: str
    reviewed_at: datetime
    reason_code: ReasonCode
    reason: str


UNCHECKED = "The edited sample has not been checked again yet."
_TOOL_STAGES = [stage.name for stage in stages_of("toolset_checks")]
REVIEW = _TOOL_STAGES[-1]
_BEYOND_CHECKS = frozenset(stage.name for stage in stages_of(LANDING_GROUP)) - {LANDING.duplicates}


def resolution_of(
    subject: str, decisions: Mapping[str, Decision], doubts: Mapping[str, str]
) -> Resolution:
    """Return the resolution of a decided sample.

    `doubts` has the reasons why edited samples cannot land as they are.
    """
    at = decisions[subject]
    seen, edit = {subject}, ""
    while at.decision == "edit" and at.result is not None:
        edit = f"Edited by {at.reviewer} as {at.result}."
        following = decisions.get(at.result)
        # nobody has decided about the edit, or it takes an earlier one back
        if following is None or at.result in seen:
            if at.result in seen or at.result not in doubts:
                return Resolution("passed", at.result, at.reviewer, at.reviewed_at, "edited", edit)
            reason = f"{edit} {doubts[at.result]}".strip()
            return Resolution("waiting", at.result, at.reviewer, at.reviewed_at, "edited", reason)
        seen.add(at.result)
        at = following
    if at.decision == "reject":
        reasons = ", ".join(at.reasons) or "no reason given"
        reason = f"{edit} Rejected by {at.reviewer}: {reasons}.".strip()
        return Resolution("rejected", at.subject, at.reviewer, at.reviewed_at, "rejected", reason)
    reason = f"{edit} Accepted by {at.reviewer}.".strip()
    return Resolution("passed", at.subject, at.reviewer, at.reviewed_at, "accepted", reason)


def is_settled_by_people(position: Outcome) -> bool:
    """Whether a decision can change a sample's position, its last outcome in a build.

    It can't for a duplicate, a failure or a sample still on its way.
    """
    if position.outcome == "waiting" or position.stage in _BEYOND_CHECKS:
        return True
    return position.outcome == "rejected" and position.stage != LANDING.duplicates


def outcomes_of(
    position: Outcome, resolution: Resolution, *, is_there: bool = False
) -> list[Outcome]:
    """Return the outcomes that a resolution gives a position, from its current stage on.

    `is_there`: the edited sample has a position of its own in this build.
    """
    if resolution.outcome == "rejected":
        return [settled(position, position.stage, resolution)]
    before_land, order = (
        LANDING.review if position.stage == LANDING.land else position.stage,
        stage_names(),
    )
    if resolution.outcome == "waiting":
        return [settled(position, before_land, resolution)]
    if resolution.subject == position.subject:
        return [
            settled(position, stage, resolution) for stage in order[order.index(position.stage) :]
        ]
    if is_there:
        reason = f"{resolution.reason} That sample already exists."
        taken = resolution._replace(outcome="rejected", reason_code="taken", reason=reason)
        return [settled(position, before_land, taken)]
    first, last = order.index(before_land), order.index(LANDING.review)
    return [settled(position, stage, resolution) for stage in order[first : last + 1]]


def settled(position: Outcome, stage: str, resolution: Resolution) -> Outcome:
    """Return the outcome of a position at a stage after people's decision."""
    return position.with_changes(
        stage=stage,
        outcome=resolution.outcome,
        reason_code=resolution.reason_code,
        reason=resolution.reason,
        decided_by="person",
        decided_who=resolution.reviewer,
        carried_from="" if resolution.subject == position.subject else resolution.subject,
    )


class _DecidedSamples(NamedTuple):
    """All stored data about decided samples, read at one moment."""

    decisions: dict[str, Decision]
    resolutions: dict[str, Resolution]
    roots: set[str]
    positions: list[Outcome]
    rows: dict[str, list[Row]]


def settle_decisions(warehouse: Warehouse) -> None:
    """Update outcomes and acceptances to people's decisions."""
    decided = _read_decided(warehouse)
    outcomes, gone = _settled_positions(decided)
    outcomes += _settled_edits(decided)
    remove_outcomes(warehouse, [(build, LANDING.land, subject) for build, subject in gone])
    warehouse.put_rows(
        {"outcomes": outcomes, "acceptances": _changed_acceptances(decided)}, replacing=True
    )


def _read_decided(warehouse: Warehouse) -> _DecidedSamples:
    queries: dict[str, tuple[str, list[object]]] = {
        "decisions": (
            sql("resolutions.decisions"),
            [[SAMPLE_REVIEW, DISAMBIGUATION, CORRECTION, DIALOGUE_ACTS], DIALOGUE_ACTS],
        ),
        "doubts": (sql("resolutions.doubts"), [VOUCHED_EDITS, UNCHECKED]),
        "roots": (sql("resolutions.roots"), []),
        "positions": (sql("resolutions.positions"), []),
        "independent": (sql("resolutions.independent"), []),
        "landed_edits": (sql("resolutions.landed_edits"), []),
        "acceptances": (sql("resolutions.acceptances"), []),
    }
    rows = warehouse.rows_by_name(queries, worked_out=["decisions"])
    positions = [Outcome(**row) for row in rows["positions"]]
    decisions = _counting(
        [Decision(**row | {"reasons": tuple(row["reasons"])}) for row in rows["decisions"]],
        positions,
    )
    doubts = {row["subject"]: row["reason"] for row in rows["doubts"]}
    return _DecidedSamples(
        decisions=decisions,
        resolutions={subject: resolution_of(subject, decisions, doubts) for subject in decisions},
        roots={row["subject"] for row in rows["roots"]} & decisions.keys(),
        positions=positions,
        rows=rows,
    )


def _counting(decisions: Iterable[Decision], positions: Iterable[Outcome]) -> dict[str, Decision]:
    """Return the decision that counts about each sample: the last one.

    Decisions about dialogue acts come after all others. They count only if they settle a
    position, and if there is no other decision, or the other accepts the sample and theirs does
    not.
    """
    counting_decisions: dict[str, Decision] = {}
    for decision in decisions:
        before = counting_decisions.get(decision.subject)
        counts_more = before is None or (
            before.decision == "accept" and decision.decision != "accept"
        )
        if counts_more or decision.kind != DIALOGUE_ACTS:
            counting_decisions[decision.subject] = decision
    settling = {
        one.subject
        for one in positions
        if one.subject in counting_decisions and _is_settled(one, counting_decisions[one.subject])
    }
    return {
        name: one
        for name, one in counting_decisions.items()
        if one.kind != DIALOGUE_ACTS or name in settling
    }


def _is_settled(position: Outcome, decision: Decision) -> bool:
    """Whether a decision settles a position.

    Acts that are right, or corrected, say nothing about what a check doubts.
    """
    if (
        decision.kind == DIALOGUE_ACTS
        and decision.decision != "reject"
        and position.outcome != "passed"
    ):
        return position.decided_by == "person"
    return is_settled_by_people(position)


def _settled_positions(decided: _DecidedSamples) -> tuple[list[Row], list[tuple[str, str]]]:
    """Return changed outcomes, and each (build, sample) whose landing outcome must go.

    It goes because another sample has its place.
    """
    independent = {(row["build"], row["subject"]) for row in decided.rows["independent"]}
    landed = {
        (row["build"], row["subject"]): Outcome(**row) for row in decided.rows["landed_edits"]
    }
    outcomes: list[Row] = []
    gone: set[tuple[str, str]] = set()
    taken: set[tuple[str, str]] = set()
    for position in decided.positions:
        if position.subject not in decided.roots or not _is_settled(
            position, decided.decisions[position.subject]
        ):
            continue
        resolution = decided.resolutions[position.subject]
        place = (position.build, resolution.subject)
        settled_outcomes = outcomes_of(
            position, resolution, is_there=place in independent or place in taken
        )
        if position.stage == LANDING.land and settled_outcomes[-1].stage != LANDING.land:
            gone.add((position.build, position.subject))
        outcomes += _changed(position, settled_outcomes)
        if resolution.subject != position.subject and (
            settled_outcomes[-1].stage,
            settled_outcomes[-1].outcome,
        ) == (LANDING.review, "passed"):
            taken.add(place)
            edited = position.with_changes(subject=resolution.subject)
            lands = settled(edited, LANDING.land, resolution).with_changes(
                carried_from=position.subject
            )
            outcomes += _changed(landed.get(place), [lands])
    return outcomes, sorted(gone | (landed.keys() - taken))


def _settled_edits(decided: _DecidedSamples) -> list[Row]:
    """Return the outcomes of contradicted edited samples that people have decided since."""
    outcomes: list[Row] = []
    for position in decided.positions:
        resolution = (
            None if position.subject in decided.roots else decided.resolutions.get(position.subject)
        )
        if (
            resolution is not None
            and position.stage != LANDING.land
            and position.outcome in ("waiting", "rejected")
        ):
            is_itself = resolution.subject == position.subject
            carried = resolution if is_itself else resolution._replace(outcome="passed")
            outcomes += _changed(position, [settled(position, position.stage, carried)])
    return outcomes


def _changed(position: Outcome | None, outcomes: Iterable[Outcome]) -> list[Row]:
    """Return the outcomes as rows, without the position's own; None is an open position."""
    return [outcome_row(outcome) for outcome in outcomes if outcome != position]


def _changed_acceptances(decided: _DecidedSamples) -> list[Row]:
    """Return the acceptances that change by people's decisions.

    What people let land is accepted under their name; what they took away is withdrawn.
    """
    resolutions = [decided.resolutions[subject] for subject in decided.roots]
    lands = {one.subject: one for one in resolutions if one.outcome == "passed"}
    changed: list[Row] = []
    for row in decided.rows["acceptances"]:
        resolution = lands.get(row["subject"])
        acceptance = {name: value for name, value in row.items() if not name.startswith("asked_")}
        if resolution is not None:
            wanted = {
                "build": row["build"] or row["asked_build"],
                "recipe": row["recipe"] or row["asked_recipe"],
                "grade": _grade_of_accepted(row),
                "judged_by": row["judged_by"] or [],
                "accepted_by": resolution.reviewer,
                "decided_by": "person",
                "accepted_at": resolution.reviewed_at,
                "withdrawn_at": None,
            }
            if acceptance != acceptance | wanted:
                changed.append(acceptance | wanted)
        elif row["build"] and row["withdrawn_at"] is None:
            changed.append(acceptance | {"withdrawn_at": datetime.now(UTC)})
    return changed


def _grade_of_accepted(row: Row) -> ClaimGrade:
    """Return the grade of what a person accepted: proved, judged if it had landed, or vouched."""
    stands: ClaimGrade = row["asked_grade"]
    if stands == "proved" or (stands == "judged" and row["grade"] in LANDED_GRADES):
        return stands
    return "vouched"


VOUCHED_EDITS = [SAMPLE_REVIEW, DISAMBIGUATION]  # the review kinds whose edits change what is right


def settle_tools(warehouse: Warehouse) -> None:
    """Update the outcomes of tools to people's decisions; only differences are written."""
    resolutions = _resolutions(warehouse)
    if not resolutions:
        return
    outcomes: list[Row] = []
    for row in warehouse.rows(sql("resolutions.tool_positions"), [_TOOL_STAGES, TOOL_REVIEW]):
        position = Outcome(**row)
        resolution = resolutions[position.subject]
        at_position = settled(position, position.stage, resolution)
        if at_position != position:
            is_passed = resolution.outcome == "passed"
            if is_passed:
                onward = _TOOL_STAGES[_TOOL_STAGES.index(position.stage) :]
            else:
                onward = [position.stage]
            outcomes += [outcome_row(at_position.with_changes(stage=stage)) for stage in onward]
    warehouse.put_rows({"outcomes": outcomes})


def settle_edited_tools(warehouse: Warehouse) -> int:
    """Check the tools that people wrote, settle, and return how many a check contradicts.

    People are asked again about those.
    """
    against = 0
    for row in warehouse.rows(sql("resolutions.unseen"), [TOOL_REVIEW]):
        tool = read_tools(warehouse, [row["key"]])[row["key"]]
        parents = set(row["parents"])
        verdicts = check_edited_tool(
            tool, [one for one in tools_of(warehouse, row["build"]) if one.key not in parents]
        )
        problems = [verdict.reason for verdict in verdicts if verdict.decision == "contradicted"]
        against += bool(problems)
        stated = f"As edited by {row['reviewer']}: {' '.join(problems)}"
        requests = [tool_request(row["build"], tool.key, stated)] if problems else []
        warehouse.put_rows({"verdicts": verdict_rows(verdicts), "review_requests": requests})
    settle_tools(warehouse)
    return against


def usable_tools(warehouse: Warehouse, toolset: str) -> tuple[Tool, ...]:
    """Return the tools of a toolset that passed, as people left them, in a fixed order."""
    passed = warehouse.rows(
        "select subject from outcomes where build = ? and stage = ? and outcome = 'passed'",
        [toolset, REVIEW],
    )
    resolutions = _resolutions(warehouse)
    keys = {
        resolutions[row["subject"]].subject if row["subject"] in resolutions else row["subject"]
        for row in passed
    }
    tools = read_tools(warehouse, sorted(keys)).values()
    return tuple(
        sorted(tools, key=lambda tool: (tool.category, tool.language, tool.name, tool.key))
    )


def _resolutions(warehouse: Warehouse) -> dict[str, Resolution]:
    rows = warehouse.rows_by_name(
        {
            "decisions": (sql("resolutions.tool_decisions"), [TOOL_REVIEW]),
            "doubts": (sql("resolutions.tool_doubts"), [UNCHECKED, TOOL_REVIEW]),
        }
    )
    decisions = {
        row["subject"]: Decision(**row | {"reasons": tuple(row["reasons"])})
        for row in rows["decisions"]
    }
    doubts = {row["subject"]: row["reason"] for row in rows["doubts"]}
    return {subject: resolution_of(subject, decisions, doubts) for subject in decisions}


COMPLEXITY, REDUNDANCY = _TOOL_STAGES[:2]


def check_made_tools(warehouse: Warehouse, toolset: str) -> None:
    """Judge a toolset's tools, and ask people about those that a check did not prove."""
    tools = tools_of(warehouse, toolset)
    complexity = check_complexity(tools)
    simple = [
        tool
        for tool, verdict in zip(tools, complexity, strict=True)
        if verdict.decision != "contradicted"
    ]
    redundancy = check_redundancy(simple)
    outcomes = _outcomes(toolset, complexity, redundancy)
    waiting = [(row["subject"], row["reason"]) for row in outcomes if row["outcome"] == "waiting"]
    warehouse.put_rows(
        {
            "verdicts": verdict_rows([*complexity, *redundancy]),
            "outcomes": outcomes,
            "review_requests": [
                tool_request(toolset, subject, reason) for subject, reason in waiting
            ],
        }
    )


def check_edited_tool(tool: Tool, company: Sequence[Tool]) -> list[Verdict]:
    """Check a tool that a person wrote, with the others of its toolset."""
    others = [
        other
        for other in company
        if (other.category, other.language) == (tool.category, tool.language)
    ]
    return [check([*others, tool])[-1] for check in (check_complexity, check_redundancy)]


def tools_of(warehouse: Warehouse, toolset: str) -> list[Tool]:
    """Return all tools of a toolset, ordered so that the first of a kind keeps its place."""
    rows = warehouse.rows("select tool from made_tools where toolset = ?", [toolset])
    tools = read_tools(warehouse, [row["tool"] for row in rows]).values()
    return sorted(tools, key=lambda tool: (tool.category, tool.language, tool.name, tool.key))


def _outcomes(
    toolset: str, complexity: Sequence[Verdict], redundancy: Sequence[Verdict]
) -> list[Row]:
    """Return outcomes: contradicted tools wait, and unproved ones go on to wait at the review."""
    outcomes = [
        Outcome(
            build=toolset,
            stage=stage,
            subject=verdict.subject,
            reason=verdict.reason,
            outcome="waiting" if verdict.decision == "contradicted" else "passed",
            reason_code="none" if verdict.decision == "proved" else verdict.decision,
        )
        for stage, verdicts in ((COMPLEXITY, complexity), (REDUNDANCY, redundancy))
        for verdict in verdicts
    ]
    before: Mapping[str, Verdict] = {verdict.subject: verdict for verdict in complexity}
    for verdict in redundancy:
        if verdict.decision != "contradicted":
            doubts = [one for one in (before[verdict.subject], verdict) if one.decision != "proved"]
            reason = " ".join(f"{one.check}: {one.reason}" for one in doubts)
            outcomes.append(
                Outcome(
                    build=toolset,
                    stage=REVIEW,
                    subject=verdict.subject,
                    outcome="waiting" if doubts else "passed",
                    reason_code="unproved" if doubts else "none",
                    reason=reason,
                )
            )
    return [outcome_row(one) for one in outcomes]


def tool_request(toolset: str, subject: str, reason: str) -> Row:
    """Return the question about a tool, as a row."""
    return request_row(ReviewQuestion(subject, DOUBTFUL, reason, toolset, TOOL_REVIEW))


def verdict_rows(verdicts: Sequence[Verdict]) -> list[Row]:
    """Return verdicts as rows of their table."""
    return [row for _, row in rows_of(verdicts, datetime.now(UTC))]
