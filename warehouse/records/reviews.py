"""What people said about a sample or a tool."""

from datetime import datetime
from typing import ClassVar, Literal

from warehouse.records.base import Record

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
