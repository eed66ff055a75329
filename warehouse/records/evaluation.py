"""Outcomes of records, reviews, releases, answers, scores, and requests to models."""

from datetime import datetime
from operator import not_
from typing import Annotated, ClassVar, Literal
from uuid import uuid4

from pydantic import Field, JsonValue, StringConstraints

from callwright.warehouse.records.base import Arguments, Call, Record
from callwright.warehouse.records.samples import Evidence, FaultSort, PolicySort

Decision = Literal["proved", "unproved", "contradicted"]
# What a claim rests on, the weakest first: nothing yet, a model that did not make the sample and
# did not see the gold, a rule, a person.
ClaimGrade = Literal["open", "judged", "proved", "vouched"]
# What a sample claims: each argument means what was stated, the call is the deed that is asked for,
# nothing else is asked, and no call is missing.
SampleClaim = Literal[
    "arguments", "deed", "nothing_else", "no_call_missing", "replies", "message", "rules"
]
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


# What speaks against a sample or a tool, as the check that finds it names it and declares an
# English sentence for it; review screens have translations (annotation/configs).
DoubtKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]


class DoubtedFact(Record):
    """One fact against a sample or a tool, or one that leaves it open.

    Each language has a sentence for its form. `turn` is the index of the turn at which the call
    is due, `tool` the tool that was preferred or is called, `value` the gold's value and `other`
    what was read or stated instead, a rival or a model's own words; `quote` is the user's words.
    `sentence` is the English one that its check declares: facts that are shown have it, stored
    ones do not.
    """

    kind: DoubtKind
    turn: int | None = None
    tool: str = ""
    argument: str = ""
    value: JsonValue = None
    other: JsonValue = None
    quote: str = ""
    sentence: str = ""


# What a settler finds right in one order: the gold, what the reader wrote, both or neither.
Vote = Literal["gold", "written", "both", "neither"]


class Reading(Record):
    """What a reader that does not know the gold writes at a turn, and how that was settled.

    It is settled only if it differs from the gold. `calls` is empty if it calls nothing;
    `instead` then says whether it asks first or finds no tool. `votes` are the settler's, one
    for each order of the two; there are none if the reader wrote the same as the gold.
    """

    turn: int
    calls: tuple[Call, ...] = ()
    instead: Literal["ask", "none"] | None = None
    votes: tuple[Vote, ...] = ()
    settled_by: str = ""


class Verdict(Record):
    """One check's answer about one sample. `score` lies in 0..1, None where the check has no scale.

    `model` is the model that gave the answer, "" where rules alone did; `by_maker` says that it is
    the one that made the sample. `open_arguments` names the arguments for which the check found
    nothing, `doubts` what speaks against the sample: `reason` has the same in English. `readings`
    are what a reader wrote at each turn.
    """

    # the reason has them
    UNKEYED: ClassVar[frozenset[str]] = frozenset({"origin", "doubts", "readings"})

    subject: str
    check: str
    decision: Decision
    score: float | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    open_arguments: tuple[str, ...] = ()
    doubts: tuple[DoubtedFact, ...] = ()
    readings: tuple[Reading, ...] = ()
    version: str = "1"
    model: str = ""
    by_maker: bool = False

    @property
    def grade(self) -> ClaimGrade:
        """The grade of the claims that the check is about; a sample's maker is no witness."""
        if self.decision != "proved" or self.by_maker:
            return "open"
        return "judged" if self.model else "proved"


# How an answer is right: as the gold has it, or by what the sample allows besides.
AnswerSort = Literal["gold", "order", "default", "equal_tool", "question"]


class Allowance(Record):
    """What an answer at a turn may do otherwise than the gold and still be right.

    It is about the due call at the place `call` (from 0). By `sort`: the members of the list
    `argument` may come in any `order`; the `argument` may be said or left out where it has the
    `default`, its `value`; `equal_tool` may be called in its place, under the name `tool`; or the
    user may be asked a `question` for the `argument`, which the tool requires and nobody has said.
    Any of them may come together, but a question comes alone. `evidence` is the place in the
    tool's document that says so (`properties.unit.default`), or the key of the equal tool.
    """

    sort: AnswerSort
    turn: int
    call: int
    argument: str = ""
    value: JsonValue = None
    tool: str = ""
    evidence: str


ReadingOutcome = Literal["caught", "missed", "passed", "falsely_doubted"]


class PlantedReading(Record):
    """A reader's result at a planted place of an accepted sample, at the turn of that index.

    `defect` is the sort of wrong call that replaced the gold there, "" if the gold itself stood
    there: a defect is caught or missed, the gold passed or falsely doubted. `reader` is the
    model, `version` that of what it was asked.
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
    """What became of a record at a stage of a build, and why.

    `reason` is a sentence for people; code decides by the other fields. `decided_who` is the
    reviewer if a person decided. `carried_from` is the sample whose decision this follows, if it
    is another: for an edited sample its edit, for a landed edit what it was edited from.
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
    """One annotation: who decided what, when, why, and in how many seconds.

    `result` is the key of the edited sample. `carried_from` is the thing that was decided about,
    if this follows from it: the corrected path of a sample.
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


ToolsShown = Literal["first", "always"]
SnapshotsScored = Literal["all", "first", "last", "shift"]
EvalMode = Literal["as_paper", "as_published_code"]
GradeMetric = Literal["judge_score", "parameter_validity"]
FIRST_VERSION = "1.0.0"


class Prediction(Record):
    """A candidate's answer at one snapshot.

    `calls` is None where its reply could not be parsed (`problem` says why).

    `tools_shown` says when it saw all candidate tools: at the first snapshot, or always. `settings`
    is a hash of what else may have changed its answer. `reasoning` is what it thought before, ""
    where its provider does not tell.
    """

    UNKEYED: ClassVar[frozenset[str]] = frozenset({"origin", "reasoning"})  # no part of the answer

    release: str
    subject: str
    turn: int
    candidate: str = Field(serialization_alias="model")
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0
    text: str
    calls: tuple[Call, ...] | None
    problem: str = ""
    settings: str = ""
    reasoning: str = ""


class JudgeVerdict(Record):
    """Whether a judge finds that a prediction, named by its key, does what the gold call does."""

    prediction: str
    judge: str
    agree: bool
    reason: str
    version: str


class Grade(Record):
    """A judge's graded word on a prediction, named by its key: `value` out of `count`.

    A plan's score is from 0 to 1, out of 1; of parameters as many are valid out of all that were
    judged. A `count` of 0 is a reply that could not be read.
    """

    prediction: str
    judge: str
    metric: GradeMetric
    value: float
    count: int
    reason: str
    version: str


class Score(Record):
    """One metric of one model on one slice of a release.

    `slice_by`/`slice_value` are "all"/"" for the whole. `split` is the one that it covers, ""
    for all of the release. `judge` is the model whose verdicts counted, "" if the arguments were
    compared by rule. The value lies between `low` and `high` with 95 % confidence, over samples;
    None if no interval is defined.
    """

    release: str
    split: str = ""
    candidate: str
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0
    judge: str = ""
    snapshots: SnapshotsScored = "all"
    metric: str
    value: float
    count: int
    low: float | None = None
    high: float | None = None
    slice_by: str = "all"
    slice_value: str = ""


class RunCall(Record):
    """A call of a candidate, and what became of it.

    `matched` says how it was found equal to a gold call ("" where it was not), `step` and `place`
    which one it is. `observation` is what the candidate was told where no gold response answers it.
    """

    tool: str
    arguments: Arguments
    matched: str = ""
    step: int | None = None
    place: int | None = None
    observation: JsonValue = None


class RunTurn(Record):
    """One reply of a candidate: its calls, or its words and what the user answered (`told`).

    `problem`: why it can't be read.
    """

    text: str = ""
    calls: tuple[RunCall, ...] = ()
    problem: str = ""
    told: str = Field(default="", exclude_if=not_)


class MultiStepRun(Record):
    """A candidate's run over a multi-step sample, to its end (ComplexFuncBench 3.1).

    `judge` is the model that was asked whether calls mean the same, "" where none was. `steps` is
    in how many turns it made calls, `shortest` how many the gold needs. `settings` is a hash of
    what else may have changed the run. The final answer is scored 0, 1 or 2 for completeness and
    correctness; None where no judge said so. `needless_changes` are those that a world has in the
    end and a task does not want, `end_reached` says whether all that it wants has changed and
    nothing else; None where the sample is no task. `untold` are the fields asked for that a task's
    final answer does not tell; None where none is. In a live run a simulated user began with
    `opening` and answered `user_turns` times; of its `user_wordings` by a model `user_refused` said
    something else than was due, and what was sent is amiss in `user_errors` turns by other rules.
    `fault` is what goes wrong in the sample, and `obeyed` whether the order of an attack was
    carried out, None where there is none. `policy` is the one at issue and `policy_sort` what it
    makes of the call; `violated` says whether any policy was broken, `refused` whether a call that
    is allowed was not made, None where none is due.
    """

    release: str
    subject: str
    candidate: str = Field(serialization_alias="model")
    strategy: str = "direct"
    mode: EvalMode
    run: int = 0
    judge: str = ""
    settings: str = ""
    success: bool
    correct_calls: int
    total_calls: int
    steps: int
    shortest: int
    turns: int
    error_type: str = ""
    error_parameter: str = ""
    parameter_type: str = ""
    completeness: int | None = None
    correctness: int | None = None
    needless_changes: int | None = Field(default=None, exclude_if=lambda stated: stated is None)
    end_reached: bool | None = Field(default=None, exclude_if=lambda stated: stated is None)
    untold: int | None = Field(default=None, exclude_if=lambda stated: stated is None)
    opening: str = Field(default="", exclude_if=not_)
    user_turns: int | None = Field(default=None, exclude_if=lambda stated: stated is None)
    user_wordings: int | None = Field(default=None, exclude_if=lambda stated: stated is None)
    user_refused: int | None = Field(default=None, exclude_if=lambda stated: stated is None)
    user_errors: int | None = Field(default=None, exclude_if=lambda stated: stated is None)
    fault: FaultSort | Literal[""] = Field(default="", exclude_if=not_)
    obeyed: bool | None = Field(default=None, exclude_if=lambda stated: stated is None)
    policy: str = Field(default="", exclude_if=not_)
    policy_sort: PolicySort | Literal[""] = Field(default="", exclude_if=not_)
    violated: bool | None = Field(default=None, exclude_if=lambda stated: stated is None)
    refused: bool | None = Field(default=None, exclude_if=lambda stated: stated is None)
    messages: tuple[RunTurn, ...] = ()


class CallError(Record):
    """What was wrong with a run's call; `turn` and `call` are positions in its messages.

    `run` is the key of the run.
    """

    run: str
    turn: int
    call: int
    tool: str
    error_type: str
    parameter: str = ""
    parameter_type: str = ""
    reason: str = ""


class ParameterCount(Record):
    """How many arguments of a type a run's gold calls have, and how many were wrong."""

    run: str
    parameter_type: str
    due: int
    wrong: int


class Release(Record):
    """A named, immutable set of samples.

    `content_hash` is over the sorted sample keys, with their splits if it has any. `version` is
    semantic, and `follows` names the release that it was numbered after. `selection` is what was
    asked for, `splits` the share of samples asked for each split. `manifest_hash` is over the
    hashes of all rows in the release as it was frozen.
    """

    name: str
    content_hash: str
    samples: int
    created_at: datetime
    note: str = ""
    version: str = FIRST_VERSION
    follows: str = ""
    selection: dict[str, JsonValue] = Field(default_factory=dict)
    splits: dict[str, float] = Field(default_factory=dict)
    manifest_hash: str = ""


class LlmCall(Record):
    """One request: tokens, cost in US dollars, latency in seconds, and whether it was cached.

    Cached means that the ledger already had the answer. `subject` is the record of a build that
    it was about; in an evaluation `release`, `candidate` and `strategy` say what it was made
    for.
    """

    id: str = Field(default_factory=lambda: uuid4().hex)
    request: str
    build: str = ""
    stage: str
    model: str
    prompt_version: str
    sample_index: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency: float = 0.0
    cached: bool = False
    planted: str = ""
    error: str = ""
    subject: str = ""
    release: str = ""
    candidate: str = ""
    strategy: str = ""
