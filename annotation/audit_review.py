"""Annotations of a model's answer become reviews: whether the metric was right about it. Nothing is edited."""

from annotation.answers import Answers, read_answers, review_of
from annotation.audit_words import audit_words_in
from annotation.pulled import PulledAnnotation
from annotation.task import Returned
from warehouse.errors import AnnotationError
from warehouse.records import Record, Review

GOLD_WRONG = "gold_wrong"


class ParsedAudit(Record):
    """What one annotation says: a review, or an answer that goes back; of a skipped task neither."""

    review: Review | None = None
    edited: None = None
    returned: Returned | None = None


def parse_audit(pulled: PulledAnnotation, prediction: str) -> ParsedAudit:
    """The review that an annotation of the prediction with this key holds.

    Raises AnnotationError where the annotation does not fit the prediction or our screen at all.
    """
    if pulled.subject != prediction:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio is about {pulled.subject!r}, not about {prediction!r}."
        )
    if pulled.skipped:
        return ParsedAudit()
    answers = read_answers(pulled)
    _check_offered(pulled, answers)
    if answers.problem:
        returned = Returned(request="", calls="", problem=answers.problem, version=pulled.version)
        return ParsedAudit(returned=returned)
    return ParsedAudit(review=review_of(pulled, answers, answers.decision, None))


def _check_offered(pulled: PulledAnnotation, answers: Answers) -> None:
    """Refuse what the screen does not offer: it would count as a reason in the figures."""
    known = audit_words_in("en").reason
    strange = [one for one in answers.verdicts if one == "edit"] + [one for one in answers.reasons if one not in known]
    if strange:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio holds {strange[0]!r}, which the screen for audits does not offer. "
            "Was the labeling interface changed by hand?"
        )
