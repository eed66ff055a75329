"""Annotations become reviews: what is the same for every review kind."""

from collections.abc import Callable
from typing import NamedTuple

from annotation.studio.records import PulledAnnotation
from annotation.task import Returned
from warehouse.errors import AnnotationError
from warehouse.records import Record, Review, ReviewDecision

_DECISIONS: dict[str, ReviewDecision] = {"accept": "accept", "edit": "edit", "reject": "reject"}


class Answers(NamedTuple):
    """The verdicts chosen, why, and what was said about it."""

    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    comment: str

    @property
    def decision(self) -> ReviewDecision:
        """The decision of answers without a problem."""
        return _DECISIONS[self.verdicts[0]]

    @property
    def problem(self) -> str:
        """Why the answers decide nothing, "" where they do."""
        match self.verdicts:
            case ():
                return "No verdict was chosen."
            case (verdict,):
                return "" if verdict != "reject" or self.reasons else "Rejected without a reason."
            case several:
                return f"{len(several)} verdicts were chosen ({', '.join(several)}); choose one."


def require_subject(pulled: PulledAnnotation, subject: str) -> None:
    """Raise AnnotationError where an annotation is not about what has the key `subject`."""
    if pulled.subject != subject:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio is about {pulled.subject!r}, not about {subject!r}."
        )


def read_answers(pulled: PulledAnnotation) -> Answers:
    """The answers of an annotation. Raises AnnotationError where it does not fit our screen."""
    verdicts = values_of(pulled, "verdict", "choices")
    unknown = [verdict for verdict in verdicts if verdict not in _DECISIONS]
    if unknown:
        raise AnnotationError(
            f"The control 'verdict' of task {pulled.task_id} in Label Studio holds {unknown[0]!r}; callwright knows "
            f"{', '.join(_DECISIONS)}. Was the labeling interface changed by hand?"
        )
    return Answers(verdicts, values_of(pulled, "reasons", "choices"), "\n".join(values_of(pulled, "comment", "text")))


def typed_into(pulled: PulledAnnotation, control: str) -> str | None:
    """What a box holds, None where nobody touched it."""
    found = values_of(pulled, control, "text")
    return "\n".join(found) if found else None


def values_of(pulled: PulledAnnotation, control: str, field: str) -> tuple[str, ...]:
    """What one control of the screen holds; controls that we did not put there are not looked at."""
    found: list[str] = []
    for item in pulled.result:
        if item.get("from_name") != control:
            continue
        value = item.get("value")
        held = value.get(field) if isinstance(value, dict) else None
        held = [held] if isinstance(held, str) else held
        if not isinstance(held, list) or not all(isinstance(entry, str) for entry in held):
            raise AnnotationError(
                f"The control {control!r} of task {pulled.task_id} in Label Studio has no texts under {field!r}. "
                "Was the labeling interface changed by hand?"
            )
        found.extend(str(entry) for entry in held)
    return tuple(found)


def review_of(pulled: PulledAnnotation, answers: Answers, decision: ReviewDecision, result: str | None) -> Review:
    """The review that an annotation makes; `result` is the key of what it was edited into."""
    return Review(
        subject=pulled.subject,
        kind=pulled.kind,
        decision=decision,
        reviewer=pulled.reviewer,
        reviewed_at=pulled.reviewed_at,
        reasons=answers.reasons if decision == "reject" else (),
        comment=answers.comment,
        seconds=pulled.seconds,
        result=result,
        annotation_id=pulled.annotation_id,
        task_id=pulled.task_id,
        server=pulled.server,
    )


class ParsedVerdict(Record):
    """What one annotation says: a review, or an answer that goes back; of a skipped task neither. Nothing is edited."""

    review: Review | None = None
    edited: None = None
    returned: Returned | None = None


def parse_verdict(
    pulled: PulledAnnotation, subject: str, refuse: Callable[[PulledAnnotation, Answers], None]
) -> ParsedVerdict:
    """The review that an annotation of what has the key `subject` holds.

    Raises AnnotationError where the annotation does not fit it or our screen at all; `refuse` does so for answers that the
    screen does not offer.
    """
    require_subject(pulled, subject)
    if pulled.skipped:
        return ParsedVerdict()
    answers = read_answers(pulled)
    refuse(pulled, answers)
    if answers.problem:
        returned = Returned(request="", calls="", problem=answers.problem, version=pulled.version)
        return ParsedVerdict(returned=returned)
    return ParsedVerdict(review=review_of(pulled, answers, answers.decision, None))
