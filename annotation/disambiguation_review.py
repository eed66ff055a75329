"""Annotations of competing entries become reviews: what was ticked is struck, in a new version of the sample."""

from annotation.answers import read_answers, require_subject, review_of, values_of
from annotation.disambiguation_task import offered_strikes
from annotation.pulled import PulledAnnotation
from annotation.striking import strike
from annotation.task import Returned
from warehouse.errors import AnnotationError, RecordError
from warehouse.records import Record, Review, Sample, Strike


class ParsedDisambiguation(Record):
    """What one annotation says: a review, with what is struck and the sample without it; or an answer that goes back.

    A skipped task says neither.
    """

    review: Review | None = None
    strikes: tuple[Strike, ...] = ()
    edited: Sample | None = None
    returned: Returned | None = None


def parse_disambiguation(pulled: PulledAnnotation, sample: Sample) -> ParsedDisambiguation:
    """The review that an annotation of the competing entries of `sample` holds.

    Raises AnnotationError where the annotation does not fit the sample or our screen at all.
    """
    require_subject(pulled, sample.key)
    if pulled.skipped:
        return ParsedDisambiguation()
    answers = read_answers(pulled)
    strikes = _ticked(pulled, sample)
    problem = answers.problem or _problem(answers.decision, strikes)
    if problem:
        return _returned(pulled, strikes, problem)
    if answers.decision != "edit":
        return ParsedDisambiguation(review=review_of(pulled, answers, answers.decision, None))
    try:
        edited = strike(sample, strikes)
    except RecordError as error:
        return _returned(pulled, strikes, str(error))
    return ParsedDisambiguation(
        review=review_of(pulled, answers, "edit", edited.key), strikes=strikes, edited=edited
    )  # fmt: skip


def _ticked(pulled: PulledAnnotation, sample: Sample) -> tuple[Strike, ...]:
    offered = offered_strikes(sample)
    names = values_of(pulled, "strikes", "choices")
    unknown = [name for name in names if name not in offered]
    if unknown:
        raise AnnotationError(
            f"The control 'strikes' of task {pulled.task_id} in Label Studio holds {unknown[0]!r}, which is no entry that "
            "the sample offers to strike. Was the task's data changed by hand?"
        )
    return tuple(offered[name] for name in dict.fromkeys(names))


def _problem(decision: str, strikes: tuple[Strike, ...]) -> str:
    if decision == "edit" and not strikes:
        return "Entries were to be struck, but none is ticked."
    if decision == "accept" and strikes:
        return "Entries are ticked, but the verdict is that all is clear as it is."
    return ""


def _returned(pulled: PulledAnnotation, strikes: tuple[Strike, ...], problem: str) -> ParsedDisambiguation:
    ticked = "\n".join(f"{one.step}.{one.call}.{one.entry}:{one.entries}" for one in strikes)
    returned = Returned(request="", calls=ticked, problem=problem, version=pulled.version)
    return ParsedDisambiguation(returned=returned)
