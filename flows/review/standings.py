"""Where a sample stands after what people decided about it: edits are followed to their end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from flows.stages import STAGES, stages_of
from warehouse.records import ReviewDecision


class Decision(NamedTuple):
    """The decision that counts about a sample, of a review kind; `result` is the key of what it was edited into."""

    subject: str
    decision: ReviewDecision
    reviewer: str
    reviewed_at: datetime
    reasons: tuple[str, ...] = ()
    result: str | None = None
    kind: str = ""


class Standing(NamedTuple):
    """What comes of a decided sample: `subject` lands in its place where the outcome is "passed"."""

    outcome: Literal["passed", "rejected", "waiting"]
    subject: str
    reviewer: str
    reviewed_at: datetime
    reason: str


class Seat(NamedTuple):
    """The last stage of a build that a sample came to, and what happened there."""

    build: str
    subject: str
    stage: str
    outcome: str
    reason: str


class Step(NamedTuple):
    """A fate that a seat shall have."""

    stage: str
    outcome: str
    reason: str


_ORDER = tuple(stage.name for stage in STAGES)
_BEYOND_CHECKS = frozenset(stage.name for stage in stages_of("landing")) - {"duplicates"}


def standing_of(subject: str, decisions: Mapping[str, Decision], doubts: Mapping[str, str]) -> Standing:
    """Where a decided sample stands; `doubts` says of edited samples why they can't land as they are."""
    at = decisions[subject]
    seen, edits = {subject}, ""
    while at.decision == "edit" and at.result is not None:
        edits = f"Edited by {at.reviewer} as {at.result}."
        if at.result in seen:  # edited back to what it was
            return Standing("passed", at.result, at.reviewer, at.reviewed_at, edits)
        seen.add(at.result)
        following = decisions.get(at.result)
        if following is None:
            doubt = doubts.get(at.result, "")
            outcome: Literal["waiting", "passed"] = "waiting" if doubt else "passed"
            return Standing(outcome, at.result, at.reviewer, at.reviewed_at, f"{edits} {doubt}".strip())
        at = following
    if at.decision == "reject":
        reasons = ", ".join(at.reasons) or "no reason given"
        said = f"{edits} Rejected by {at.reviewer}: {reasons}.".strip()
        return Standing("rejected", at.subject, at.reviewer, at.reviewed_at, said)
    return Standing("passed", at.subject, at.reviewer, at.reviewed_at, f"{edits} Accepted by {at.reviewer}.".strip())


def is_word_of_people(reason: str) -> bool:
    """Whether the reason of a fate tells of a decision: the sentences of `standing_of`."""
    return reason.startswith(("Accepted by ", "Rejected by ", "Edited by "))


def is_settled_by_people(seat: Seat) -> bool:
    """Whether a decision can change this seat: a duplicate, a failure and a sample still on its way are no matter of it."""
    if seat.outcome == "waiting" or seat.stage in _BEYOND_CHECKS:
        return True
    return seat.outcome == "rejected" and seat.stage != "duplicates"


def steps_of(seat: Seat, standing: Standing, *, is_there: bool = False) -> list[Step]:
    """The fates that a standing gives a seat, from the stage where it sits.

    `is_there`: what the sample was edited into has a seat of its own in this build.
    """
    if standing.outcome == "rejected":
        return [Step(seat.stage, "rejected", standing.reason)]
    before_land = "review" if seat.stage == "land" else seat.stage
    if standing.outcome == "waiting":
        return [Step(before_land, "waiting", standing.reason)]
    if standing.subject == seat.subject:
        return [Step(stage, "passed", standing.reason) for stage in _ORDER[_ORDER.index(seat.stage) :]]
    if is_there:
        return [Step(before_land, "rejected", f"{standing.reason} That sample is there already.")]
    first, last = _ORDER.index(before_land), _ORDER.index("review")
    return [Step(stage, "passed", standing.reason) for stage in _ORDER[first : last + 1]]
