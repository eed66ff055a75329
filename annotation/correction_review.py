"""Annotations of corrections become reviews; each counts for all samples made after the same template."""

from annotation.answers import read_answers, review_of
from annotation.pulled import PulledAnnotation
from annotation.task import Returned
from warehouse.errors import AnnotationError
from warehouse.records import Record, Review


class ParsedCorrectionReview(Record):
    """What one annotation says: a review, or an answer that goes back; of a skipped task neither. Nothing is edited."""

    review: Review | None = None
    edited: None = None
    returned: Returned | None = None


def parse_correction_review(pulled: PulledAnnotation, subject: str) -> ParsedCorrectionReview:
    """The review that an annotation of the corrected path with the key `subject` holds.

    Raises AnnotationError where the annotation does not fit the path or our screen at all.
    """
    if pulled.subject != subject:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio is about {pulled.subject!r}, not about {subject!r}."
        )
    if pulled.skipped:
        return ParsedCorrectionReview()
    answers = read_answers(pulled)
    problem = answers.problem
    if problem:
        returned = Returned(request="", calls="", problem=problem, version=pulled.version)
        return ParsedCorrectionReview(returned=returned)
    if answers.decision == "edit":
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio has the verdict 'edit', which the screen for corrections does not "
            "offer. Was the labeling interface changed by hand?"
        )
    return ParsedCorrectionReview(review=review_of(pulled, answers, answers.decision, None))
