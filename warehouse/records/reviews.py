"""What people said about a sample or a tool."""

from datetime import datetime
from typing import Literal

from warehouse.records.base import Record

ReviewDecision = Literal["accept", "edit", "reject"]


class Review(Record):
    """One annotation: who decided what, when, why, in how many seconds; `result` is the key of the edited sample."""

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
