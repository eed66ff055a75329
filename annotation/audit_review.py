"""Annotations of a model's answer become reviews: whether the metric was right about it. Nothing is edited."""

from annotation.answers import Answers
from annotation.audit_words import audit_words_in
from annotation.pulled import PulledAnnotation
from annotation.verdict_review import ParsedVerdict, parse_verdict
from warehouse.errors import AnnotationError

GOLD_WRONG = "gold_wrong"


def parse_audit(pulled: PulledAnnotation, prediction: str) -> ParsedVerdict:
    """The review that an annotation of the prediction with this key holds.

    Raises AnnotationError where the annotation does not fit the prediction or our screen at all.
    """
    return parse_verdict(pulled, prediction, _refuse)


def _refuse(pulled: PulledAnnotation, answers: Answers) -> None:
    """Refuse what the screen does not offer: it would count as a reason in the figures."""
    known = audit_words_in("en").reason
    strange = [one for one in answers.verdicts if one == "edit"] + [one for one in answers.reasons if one not in known]
    if strange:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio holds {strange[0]!r}, which the screen for audits does not offer. "
            "Was the labeling interface changed by hand?"
        )
