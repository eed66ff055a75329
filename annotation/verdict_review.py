"""Annotations that hold a verdict and nothing edited become reviews: the same for every such review kind."""

from collections.abc import Callable

from annotation.answers import Answers, read_answers, require_subject, review_of
from annotation.pulled import PulledAnnotation
from annotation.task import Returned
from warehouse.records import Record, Review


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
