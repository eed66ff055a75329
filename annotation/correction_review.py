"""Annotations of corrections become reviews; each counts for all samples made after the same template."""

from annotation.answers import Answers
from annotation.pulled import PulledAnnotation
from annotation.verdict_review import ParsedVerdict, parse_verdict
from warehouse.errors import AnnotationError


def parse_correction_review(pulled: PulledAnnotation, subject: str) -> ParsedVerdict:
    """The review that an annotation of the corrected path with the key `subject` holds.

    Raises AnnotationError where the annotation does not fit the path or our screen at all.
    """
    return parse_verdict(pulled, subject, _refuse)


def _refuse(pulled: PulledAnnotation, answers: Answers) -> None:
    if answers.verdicts == ("edit",):
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio has the verdict 'edit', which the screen for corrections does not "
            "offer. Was the labeling interface changed by hand?"
        )
