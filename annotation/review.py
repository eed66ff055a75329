"""Annotations become reviews: strict about what was typed, and nothing typed is lost."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from annotation.dialogue_lines import is_dialogue
from annotation.edited_calls import leaves_out, read_calls
from annotation.edited_dialogue import read_dialogue
from annotation.edits import edited_sample, with_turns
from annotation.pulled import PulledAnnotation
from annotation.task import Returned, boxes
from annotation.typed_values import check_storable
from warehouse.errors import AnnotationError, RecordError
from warehouse.records import Record, Review, ReviewDecision, Sample, Tool

_DECISIONS: dict[str, ReviewDecision] = {"accept": "accept", "edit": "edit", "reject": "reject"}


class ParsedReview(Record):
    """What one annotation says.

    `reviewed` has a review, and the edited sample where the decision is "edit". `returned` has what was typed and why
    it can't be used. `skipped` has neither.
    """

    outcome: Literal["reviewed", "returned", "skipped"]
    review: Review | None = None
    edited: Sample | None = None
    returned: Returned | None = None


class _Answers(NamedTuple):
    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    comment: str
    request: str | None
    calls: str | None


def parse_review(pulled: PulledAnnotation, sample: Sample, tools: Sequence[Tool]) -> ParsedReview:
    """The review that an annotation of `sample` holds; `tools` are its candidates.

    Raises AnnotationError where the annotation does not fit the sample or our screen at all.
    """
    if pulled.subject != sample.key:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio is about {pulled.subject!r}, not about {sample.key!r}."
        )
    if pulled.skipped:
        return ParsedReview(outcome="skipped")
    answers = _answers(pulled)
    problem = _verdict_problem(answers)
    if problem:
        return _returned(pulled, sample, answers, problem)
    decision = _DECISIONS[answers.verdicts[0]]
    if decision != "edit":
        return ParsedReview(outcome="reviewed", review=_review(pulled, answers, decision, None))
    return _edited(pulled, answers, sample, tools)


def _edited(pulled: PulledAnnotation, answers: _Answers, sample: Sample, tools: Sequence[Tool]) -> ParsedReview:
    try:
        edited = _typed_dialogue(answers, sample, tools) if is_dialogue(sample) else _typed(answers, sample, tools)
    except RecordError as problem:
        return _returned(pulled, sample, answers, str(problem))
    if edited.key == sample.key:  # nothing was changed after all
        return ParsedReview(outcome="reviewed", review=_review(pulled, answers, "accept", None))
    return ParsedReview(outcome="reviewed", review=_review(pulled, answers, "edit", edited.key), edited=edited)


def _typed_dialogue(answers: _Answers, sample: Sample, tools: Sequence[Tool]) -> Sample:
    if answers.request is None:
        raise RecordError("The box with the conversation was left empty.")
    return with_turns(sample, read_dialogue(answers.request, sample, tools))


def _typed(answers: _Answers, sample: Sample, tools: Sequence[Tool]) -> Sample:
    request = _typed_request(answers, sample)
    if answers.calls is None:
        raise RecordError("The box with the calls was left empty; write [] where no call is due.")
    may_leave_out = sample.kind == "imperfect" or leaves_out(sample.gold, tools)
    return edited_sample(sample, request, read_calls(answers.calls, tools, may_leave_out=may_leave_out))


def _typed_request(answers: _Answers, sample: Sample) -> str:
    before = sample.request
    if answers.request is None or answers.request == before:
        return before
    check_storable(answers.request, "The request")
    if not answers.request.strip():
        raise RecordError("The box with the request holds nothing but spaces.")
    return answers.request.strip()


def _verdict_problem(answers: _Answers) -> str:
    match answers.verdicts:
        case ():
            return "No verdict was chosen."
        case (verdict,):
            return "" if verdict != "reject" or answers.reasons else "Rejected without a reason."
        case several:
            return f"{len(several)} verdicts were chosen ({', '.join(several)}); choose one."


def _returned(pulled: PulledAnnotation, sample: Sample, answers: _Answers, problem: str) -> ParsedReview:
    before = boxes(sample)
    typed = Returned(
        request=before.request if answers.request is None else answers.request,
        calls=before.calls if answers.calls is None else answers.calls,
        problem=problem,
        version=pulled.version,
    )
    return ParsedReview(outcome="returned", returned=typed)


def _review(pulled: PulledAnnotation, answers: _Answers, decision: ReviewDecision, result: str | None) -> Review:
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


def _answers(pulled: PulledAnnotation) -> _Answers:
    verdicts = _values(pulled, "verdict", "choices")
    unknown = [verdict for verdict in verdicts if verdict not in _DECISIONS]
    if unknown:
        raise AnnotationError(
            f"The control 'verdict' of task {pulled.task_id} in Label Studio holds {unknown[0]!r}; callwright knows "
            f"{', '.join(_DECISIONS)}. Was the labeling interface changed by hand?"
        )
    request, calls = _values(pulled, "edited_request", "text"), _values(pulled, "edited_calls", "text")
    return _Answers(
        verdicts=verdicts,
        reasons=_values(pulled, "reasons", "choices"),
        comment="\n".join(_values(pulled, "comment", "text")),
        request="\n".join(request) if request else None,
        calls="\n".join(calls) if calls else None,
    )


def _values(pulled: PulledAnnotation, control: str, field: str) -> tuple[str, ...]:
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
