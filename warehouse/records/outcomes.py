"""What became of records: the verdicts of checks, failures, outcomes at stages, and what people said."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import JsonValue, StringConstraints

from callwright.warehouse.records.base import Record
from callwright.warehouse.records.samples import Evidence

Decision = Literal["proved", "unproved", "contradicted"]
# What a claim rests on, the weakest first: nothing yet, a model that did not make the sample and did not see the gold, a rule,
# a person.
ClaimGrade = Literal["open", "judged", "proved", "vouched"]
# What a sample claims: each argument means what was stated, the call is the deed that is asked for, nothing else is asked, and
# no call is missing.
SampleClaim = Literal["arguments", "deed", "nothing_else", "no_call_missing", "replies", "message"]
StageOutcome = Literal["passed", "rejected", "failed", "waiting"]
ReasonCode = Literal[
    "none",
    "not_applicable",
    "unproved",
    "contradicted",
    "error",
    "duplicate",
    "accepted",
    "rejected",
    "edited",
    "taken",
]
DecidedBy = Literal["machine", "person"]


# What speaks against a sample or a tool, as the check that finds it names it and declares an English
# sentence for it; review screens have translations (annotation/configs).
DoubtKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]


class DoubtedFact(Record):
    """One fact that speaks against a sample or a tool, or leaves it open, in a form that each language has a sentence for.

    `turn` is the index of the turn at which the call is due, `tool` the tool that was preferred or is called, `value` what the
    gold has and `other` what was read or stated instead, a rival or a model's own words, `quote` the user's words.
    `sentence` is the English one that its check declares: facts that are shown have it, those that are kept do not.
    """

    kind: DoubtKind
    turn: int | None = None
    tool: str = ""
    argument: str = ""
    value: JsonValue = None
    other: JsonValue = None
    quote: str = ""
    sentence: str = ""


class Verdict(Record):
    """One check's answer about one sample. `score` lies in 0..1, None where the check has no scale.

    `model` is the model that gave the answer, "" where rules alone did; `by_maker` says that it is the one that made the sample.
    `open_arguments` names the arguments for which the check found nothing, `doubts` what speaks against the sample: `reason` has
    the same in English.
    """

    UNKEYED: ClassVar[frozenset[str]] = frozenset({"origin", "doubts"})  # the reason has them

    subject: str
    check: str
    decision: Decision
    score: float | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    open_arguments: tuple[str, ...] = ()
    doubts: tuple[DoubtedFact, ...] = ()
    version: str = "1"
    model: str = ""
    by_maker: bool = False

    @property
    def grade(self) -> ClaimGrade:
        """What the claims that the check speaks of rest on by its answer; who made a sample is no witness for it."""
        if self.decision != "proved" or self.by_maker:
            return "open"
        return "judged" if self.model else "proved"


ReadingOutcome = Literal["caught", "missed", "passed", "falsely_doubted"]


class PlantedReading(Record):
    """What a reader made of a place of an accepted sample that was planted to measure it, at the turn of that index.

    `defect` is the kind of near miss that stood there as the gold, "" where the gold itself did: a defect is caught or missed, the
    gold passed or falsely doubted. `reader` is the model, `version` that of what it was asked.
    """

    subject: str
    check: str
    reader: str
    turn: int
    defect: str
    outcome: ReadingOutcome
    reason: str = ""
    version: str


class Failure(Record):
    """A record that a stage could not carry on, and why."""

    stage: str
    subject: str
    error: str
    reason: str
    build: str = ""


class Outcome(Record):
    """What became of a record at a stage of a build, and why: `reason` is a sentence for people, code decides by the others.

    `decided_who` is the reviewer where a person decided; `carried_from` the sample whose decision this follows, where it is
    another: of an edited sample its edit, of a landed edit what it was edited from.
    """

    build: str
    stage: str
    subject: str
    outcome: StageOutcome
    reason_code: ReasonCode = "none"
    reason: str = ""
    decided_by: DecidedBy = "machine"
    decided_who: str = ""
    carried_from: str = ""


ReviewDecision = Literal["accept", "edit", "reject"]


class Review(Record):
    """One annotation: who decided what, when, why, in how many seconds; `result` is the key of the edited sample.

    `carried_from` is the thing that was decided about where this follows from it: the corrected path of a sample.
    """

    UNKEYED: ClassVar[frozenset[str]] = frozenset({"origin", "carried_from"})  # the comment has it

    subject: str
    kind: str
    decision: ReviewDecision
    reviewer: str
    reviewed_at: datetime
    reasons: tuple[str, ...] = ()
    comment: str = ""
    seconds: float = 0.0
    result: str | None = None
    annotation_id: int = 0
    task_id: int = 0
    server: str = ""
    carried_from: str = ""
