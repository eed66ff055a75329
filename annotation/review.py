"""Annotations become reviews: strict about what was typed, and nothing typed is lost."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from annotation.calls import check_storable, leaves_out, read_calls
from annotation.dialogue_editing import read_dialogue
from annotation.edits import edited_sample, with_turns
from annotation.rendering import is_dialogue
from annotation.reviews import read_answers, require_subject, review_of, typed_into
from annotation.studio.records import PulledAnnotation
from annotation.task import Returned, boxes
from warehouse.errors import RecordError
from warehouse.records import Record, Review, Sample, Tool


class ParsedReview(Record):
    """What one annotation says.

    `reviewed` has a review, and the edited sample where the decision is "edit". `returned` has what was typed and why
    it can't be used. `skipped` has neither.
    """

    outcome: Literal["reviewed", "returned", "skipped"]
    review: Review | None = None
    edited: Sample | None = None
    returned: Returned | None = None


class _Typed(NamedTuple):
    """What the two boxes hold, None where nobody touched one."""

    request: str | None
    calls: str | None


def parse_review(pulled: PulledAnnotation, sample: Sample, tools: Sequence[Tool]) -> ParsedReview:
    """The review that an annotation of `sample` holds; `tools` are its candidates.

    Raises AnnotationError where the annotation does not fit the sample or our screen at all.
    """
    require_subject(pulled, sample.key)
    if pulled.skipped:
        return ParsedReview(outcome="skipped")
    answers = read_answers(pulled)
    typed = _Typed(typed_into(pulled, "edited_request"), typed_into(pulled, "edited_calls"))
    if answers.problem:
        return _returned(pulled, sample, typed, answers.problem)
    if answers.decision != "edit":
        return ParsedReview(outcome="reviewed", review=review_of(pulled, answers, answers.decision, None))
    try:
        edited = _edited_dialogue(typed, sample, tools) if is_dialogue(sample) else _edited(typed, sample, tools)
    except RecordError as problem:
        return _returned(pulled, sample, typed, str(problem))
    if edited.key == sample.key:  # nothing was changed after all
        return ParsedReview(outcome="reviewed", review=review_of(pulled, answers, "accept", None))
    return ParsedReview(outcome="reviewed", review=review_of(pulled, answers, "edit", edited.key), edited=edited)


def _edited_dialogue(typed: _Typed, sample: Sample, tools: Sequence[Tool]) -> Sample:
    if typed.request is None:
        raise RecordError("The box with the conversation was left empty.")
    return with_turns(sample, read_dialogue(typed.request, sample, tools))


def _edited(typed: _Typed, sample: Sample, tools: Sequence[Tool]) -> Sample:
    request = _typed_request(typed, sample)
    if typed.calls is None:
        raise RecordError("The box with the calls was left empty; write [] where no call is due.")
    may_leave_out = sample.kind == "imperfect" or leaves_out(sample.gold, tools)
    return edited_sample(sample, request, read_calls(typed.calls, tools, may_leave_out=may_leave_out))


def _typed_request(typed: _Typed, sample: Sample) -> str:
    before = sample.request
    if typed.request is None or typed.request == before:
        return before
    check_storable(typed.request, "The request")
    if not typed.request.strip():
        raise RecordError("The box with the request holds nothing but spaces.")
    return typed.request.strip()


def _returned(pulled: PulledAnnotation, sample: Sample, typed: _Typed, problem: str) -> ParsedReview:
    before = boxes(sample)
    returned = Returned(
        request=before.request if typed.request is None else typed.request,
        calls=before.calls if typed.calls is None else typed.calls,
        problem=problem,
        version=pulled.version,
    )
    return ParsedReview(outcome="returned", returned=returned)
