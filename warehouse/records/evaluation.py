"""What candidate models answered, and how they scored."""

from typing import Literal

from warehouse.records.base import Record
from warehouse.records.tools import Call

ToolsShown = Literal["first", "always"]
SnapshotsScored = Literal["all", "first", "last", "shift"]


class Prediction(Record):
    """A candidate's answer at one snapshot. `calls` is None where its reply could not be parsed (`problem` says why).

    `tools_shown` says when it saw all candidate tools: at the first snapshot, or always. `settings` is a hash of what
    else may have changed its answer.
    """

    release: str
    subject: str
    turn: int
    model: str
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0
    text: str
    calls: tuple[Call, ...] | None
    problem: str = ""
    settings: str = ""


class JudgeVerdict(Record):
    """Whether a judge finds that a prediction, named by its key, does what the gold call does."""

    prediction: str
    judge: str
    agree: bool
    reason: str
    version: str


class Score(Record):
    """One metric of one model on one slice of a release: `slice_by`/`slice_value` are "all"/"" for the whole.

    `judge` is the model whose verdicts counted, "" where the arguments were compared by rule.
    """

    release: str
    model: str
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0
    judge: str = ""
    snapshots: SnapshotsScored = "all"
    metric: str
    value: float
    count: int
    slice_by: str = "all"
    slice_value: str = ""
