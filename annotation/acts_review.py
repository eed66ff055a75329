"""Annotations of dialogue acts become reviews: corrected brackets make a new version of the sample."""

from annotation.acts_lines import read_act_lines, write_act_lines
from annotation.answers import read_answers, require_subject, review_of, typed_into
from annotation.edits import with_turns
from annotation.pulled import PulledAnnotation
from annotation.review import ParsedReview
from annotation.task import Returned
from annotation.words import words_in
from warehouse.errors import RecordError
from warehouse.records import Sample


def parse_acts_review(pulled: PulledAnnotation, sample: Sample) -> ParsedReview:
    """The review that an annotation of the dialogue acts of `sample` holds.

    Raises AnnotationError where the annotation does not fit the sample or our screen at all.
    """
    require_subject(pulled, sample.key)
    if pulled.skipped:
        return ParsedReview(outcome="skipped")
    answers = read_answers(pulled)
    typed = typed_into(pulled, "edited_acts")
    if answers.problem:
        return _returned(pulled, sample, typed, answers.problem)
    if answers.decision != "edit":
        return ParsedReview(outcome="reviewed", review=review_of(pulled, answers, answers.decision, None))
    try:
        edited = _edited(typed, sample)
    except RecordError as problem:
        return _returned(pulled, sample, typed, str(problem))
    if edited.key == sample.key:  # nothing was changed after all
        return ParsedReview(outcome="reviewed", review=review_of(pulled, answers, "accept", None))
    return ParsedReview(outcome="reviewed", review=review_of(pulled, answers, "edit", edited.key), edited=edited)


def _edited(typed: str | None, sample: Sample) -> Sample:
    if typed is None:
        raise RecordError("The box with the dialogue acts was left empty.")
    return with_turns(sample, read_act_lines(typed, sample))


def _returned(pulled: PulledAnnotation, sample: Sample, typed: str | None, problem: str) -> ParsedReview:
    before = write_act_lines(sample, words_in("en")) if typed is None else typed
    return ParsedReview(
        outcome="returned", returned=Returned(request=before, calls="", problem=problem, version=pulled.version)
    )
