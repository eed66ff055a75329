"""What a check answers, and what is kept of a record that could not be made."""

from typing import Literal

from warehouse.records.base import Record
from warehouse.records.samples import Evidence

Decision = Literal["proved", "unproved", "contradicted"]


class Verdict(Record):
    """One check's answer about one sample. `score` lies in 0..1, None where the check has no scale."""

    subject: str
    check: str
    decision: Decision
    score: float | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    version: str = "1"


class Failure(Record):
    """A record that a stage could not carry on, and why."""

    stage: str
    subject: str
    error: str
    reason: str
    build: str = ""
