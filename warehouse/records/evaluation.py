"""What candidate models answered, and how they scored."""

from warehouse.records.base import Record
from warehouse.records.tools import Call


class Prediction(Record):
    """A candidate's answer at one snapshot. `calls` is None where its reply could not be parsed (`problem` says why)."""

    release: str
    subject: str
    turn: int
    model: str
    strategy: str = "direct"
    run: int = 0
    text: str
    calls: tuple[Call, ...] | None
    problem: str = ""


class Score(Record):
    """One metric of one model on one slice of a release: `slice_by`/`slice_value` are "all"/"" for the whole."""

    release: str
    model: str
    strategy: str = "direct"
    run: int = 0
    metric: str
    value: float
    count: int
    slice_by: str = "all"
    slice_value: str = ""
