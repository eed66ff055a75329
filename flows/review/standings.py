"""What comes of a sample after what people decided about it: edits are followed to their end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from flows.stages import STAGES, stages_of
from warehouse.records import DecidedBy, Outcome, ReasonCode, ReviewDecision, StageOutcome


class Decision(NamedTuple):
    """The decision that counts about a sample, of a review kind; `result` is the key of what it was edited into."""

    subject: str
    decision: ReviewDecision
    reviewer: str
    reviewed_at: datetime
    reasons: tuple[str, ...] = ()
    result: str | None = None
    kind: str = ""


class Resolution(NamedTuple):
    """What comes of a decided sample: `subject` lands in its place where the outcome is "passed".

    `reason_code` and `reason` tell of the decision that counts, `reviewer` whose it is.
    """

    outcome: Literal["passed", "rejected", "waiting"]
    subject: str
    reviewer: str
    reviewed_at: datetime
    reason_code: ReasonCode
    reason: str


class Seat(NamedTuple):
    """The last stage of a build that a sample came to, and what happened there."""

    build: str
    subject: str
    stage: str
    outcome: StageOutcome
    reason_code: ReasonCode
    reason: str
    decided_by: DecidedBy
    decided_who: str
    carried_from: str


_ORDER = tuple(stage.name for stage in STAGES)
_BEYOND_CHECKS = frozenset(stage.name for stage in stages_of("landing")) - {"duplicates"}


def resolution_of(subject: str, decisions: Mapping[str, Decision], doubts: Mapping[str, str]) -> Resolution:
    """What comes of a decided sample; `doubts` has, of edited samples that can't land as they are, why not."""
    at = decisions[subject]
    seen, edit = {subject}, ""
    while at.decision == "edit" and at.result is not None:
        edit = f"Edited by {at.reviewer} as {at.result}."
        following = decisions.get(at.result)
        if (
            following is None or at.result in seen
        ):  # nobody decided about the edit, or it was edited back to what it was
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


def is_settled_by_people(seat: Seat) -> bool:
    """Whether a decision can change this seat: a duplicate, a failure and a sample still on its way are no matter of it."""
    if seat.outcome == "waiting" or seat.stage in _BEYOND_CHECKS:
        return True
    return seat.outcome == "rejected" and seat.stage != "duplicates"


def outcomes_of(seat: Seat, resolution: Resolution, *, is_there: bool = False) -> list[Outcome]:
    """The outcomes that a resolution gives a seat, from the stage where it sits.

    `is_there`: what the sample was edited into has a seat of its own in this build.
    """
    if resolution.outcome == "rejected":
        return [settled(seat, seat.stage, resolution)]
    before_land = "review" if seat.stage == "land" else seat.stage
    if resolution.outcome == "waiting":
        return [settled(seat, before_land, resolution)]
    if resolution.subject == seat.subject:
        return [settled(seat, stage, resolution) for stage in _ORDER[_ORDER.index(seat.stage) :]]
    if is_there:
        reason = f"{resolution.reason} That sample is there already."
        taken = resolution._replace(outcome="rejected", reason_code="taken", reason=reason)
        return [settled(seat, before_land, taken)]
    first, last = _ORDER.index(before_land), _ORDER.index("review")
    return [settled(seat, stage, resolution) for stage in _ORDER[first : last + 1]]


def settled(seat: Seat, stage: str, resolution: Resolution) -> Outcome:
    """The outcome of a seat at a stage by what people decided."""
    return Outcome(
        build=seat.build,
        stage=stage,
        subject=seat.subject,
        outcome=resolution.outcome,
        reason_code=resolution.reason_code,
        reason=resolution.reason,
        decided_by="person",
        decided_who=resolution.reviewer,
        carried_from="" if resolution.subject == seat.subject else resolution.subject,
    )
