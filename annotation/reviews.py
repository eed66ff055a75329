"""The tasks of all review kinds, and how their annotations become reviews."""

from collections.abc import Callable, Container
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.errors import AnnotationError, RecordError
from callwright.warehouse.records import Record, Review, ReviewDecision, Sample, Strike, Tool


class UnusableEdit(Record):
    """An edit that could not be used: what was typed, the problem, and the task's version.

    Of a sample `calls` is what its rows hold as JSON, and `request` is "".
    """

    request: str
    calls: str
    problem: str
    version: int


class ReviewTask(Record):
    """A task for annotators about a subject; each review kind adds the fields of its screen."""

    subject: str
    kind: str
    version: int = 1
    title: str
    why: str

    @property
    def callwright_key(self) -> str:
        """Return the task's key in Label Studio, under which the same content is pushed once."""
        return task_key(self.kind, self.subject, self.version)

    def data(self) -> dict[str, JsonValue]:
        """Return the task as Label Studio imports it."""
        fields = self.model_dump(mode="json", exclude={"kind"})
        return {"callwright_key": self.callwright_key, **fields}


class QueuedTask(NamedTuple):
    """A task with its queue priority (0 to 1, highest first) and its number of reviewers.

    The task tables filter by `language` and `sample_kind`; a tool has no kind.
    """

    task: ReviewTask
    priority: float = 0.5
    reviewers: int = 1
    language: str = ""
    sample_kind: str = ""

    @property
    def callwright_key(self) -> str:
        """The key that identifies the task in Label Studio."""
        return self.task.callwright_key

    def data(self) -> dict[str, JsonValue]:
        """Return the task as Label Studio imports it; the priority is sorted as text there."""
        chosen_by = {"language": self.language, "sample_kind": self.sample_kind}
        return {**self.task.data(), **chosen_by, "priority": f"{self.priority:.6f}"}


class TaskQueue(NamedTuple):
    """A separate table of tasks for these languages and sample kinds; empty means all.

    With an `account`, the table shows what that person has not answered and too few people have.
    """

    title: str
    languages: tuple[str, ...] = ()
    sample_kinds: tuple[str, ...] = ()
    account: str = ""


def task_key(kind: str, subject: str, version: int) -> str:
    """Return the key that identifies a task in Label Studio."""
    return f"{kind}:{subject}:{version}"


def version_after(returned: UnusableEdit | None) -> int:
    """Return the version of a task: one higher if it hands back an edit."""
    return returned.version + 1 if returned else 1


def why_asked(reason: str, returned: UnusableEdit | None, sentence: str) -> str:
    """Return why people are asked, after `sentence` with the problem if an edit is returned."""
    return f"{sentence.format(problem=returned.problem)}\n{reason}" if returned else reason


# What is decided by each verdict of a screen; who takes the reading edits the calls by one key.
_DECISIONS: dict[str, ReviewDecision] = {
    "accept": "accept",
    "edit": "edit",
    "reject": "reject",
    "reading": "edit",
}


_UNCHANGED = (
    "It was to be accepted with edits, but nothing is edited. Accept it as it is, or change what is"
    " wrong."
)


class ParsedReview(Record):
    """The content of one annotation.

    A `reviewed` one has a review and, if the decision is "edit", the result of the edit, with
    the struck entries. A `returned` one has what was typed and why it can't be used. A `skipped`
    one has none of these.
    """

    outcome: Literal["reviewed", "returned", "skipped"]
    review: Review | None = None
    edited: Sample | Tool | None = None
    strikes: tuple[Strike, ...] = ()
    returned: UnusableEdit | None = None


class Typed(NamedTuple):
    """What a review kind reads from its screen's boxes, as sent back with a problem.

    `edit` makes the edited subject, or raises RecordError if the typed text cannot be used.
    `problem` is a problem that the answers alone do not show.
    """

    edit: Callable[[], Sample | Tool]
    request: str = ""
    calls: str = ""
    strikes: tuple[Strike, ...] = ()
    problem: str = ""


class ChosenVerdicts(NamedTuple):
    """The chosen verdicts, with their reasons and comment."""

    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    comment: str

    @property
    def takes_reading(self) -> bool:
        """Whether a reader's calls replace the gold."""
        return self.verdicts == ("reading",)

    @property
    def decision(self) -> ReviewDecision:
        """The decision of answers without a problem."""
        return _DECISIONS[self.verdicts[0]]

    @property
    def problem(self) -> str:
        """Why the answers decide nothing; "" if they do."""
        match self.verdicts:
            case ():
                return "No verdict was chosen."
            case (verdict,):
                return "" if verdict != "reject" or self.reasons else "The rejection has no reason."
            case several:
                return f"{len(several)} verdicts were chosen ({', '.join(several)}); choose one."


def parse_annotation(
    pulled: PulledAnnotation, subject: str, read: Callable[[ChosenVerdicts], Typed]
) -> ParsedReview:
    """Return the review in an annotation of `subject` (a key); `read` reads the typed text.

    Raises AnnotationError if the annotation does not fit the subject or the screen at all.
    """
    if pulled.subject != subject:
        raise AnnotationError(
            f"Task {pulled.task_id} in Label Studio is about {pulled.subject!r}, not about"
            f" {subject!r}."
        )
    if pulled.skipped:
        return ParsedReview(outcome="skipped")
    answers = read_answers(pulled)
    typed = read(answers)
    problem = answers.problem or typed.problem
    edited: Sample | Tool | None = None
    if not problem and answers.decision == "edit":
        try:
            edited = typed.edit()
        except RecordError as error:
            problem = str(error)
        else:
            problem = _UNCHANGED if edited.key == subject else ""
    if problem:
        returned = UnusableEdit(
            request=typed.request, calls=typed.calls, problem=problem, version=pulled.version
        )
        return ParsedReview(outcome="returned", returned=returned)
    decision = answers.decision
    review = Review(
        subject=subject,
        kind=pulled.kind,
        decision=decision,
        reviewer=pulled.reviewer,
        reviewed_at=pulled.reviewed_at,
        reasons=answers.reasons if decision == "reject" else (),
        comment=answers.comment,
        seconds=pulled.seconds,
        result=edited.key if edited else None,
        annotation_id=pulled.annotation_id,
        task_id=pulled.task_id,
        server=pulled.server,
    )
    strikes = typed.strikes if edited else ()
    return ParsedReview(outcome="reviewed", review=review, edited=edited, strikes=strikes)


def parse_verdict(
    pulled: PulledAnnotation, subject: str, screen: str, reasons: Container[str] | None = None
) -> ParsedReview:
    """Return the review in an annotation of a `screen` without editing, as `parse_annotation`.

    `reasons` are those that the screen offers; None allows any. Raises AnnotationError also for
    answers that the screen does not offer, because they would count in the figures.
    """

    def read(answers: ChosenVerdicts) -> Typed:
        strange = [one for one in answers.verdicts if one in ("edit", "reading")]
        strange += [one for one in answers.reasons if reasons is not None and one not in reasons]
        if strange:
            raise AnnotationError(
                f"Task {pulled.task_id} in Label Studio holds {strange[0]!r}, which the screen for"
                f" {screen} does not offer. Was the labeling interface changed by hand?"
            )
        return Typed(_nothing_to_edit)

    return parse_annotation(pulled, subject, read)


def _nothing_to_edit() -> Sample | Tool:
    raise RecordError("Nothing can be edited here; accept or reject it.")


def read_answers(pulled: PulledAnnotation) -> ChosenVerdicts:
    """Return the answers of an annotation. Raises AnnotationError if it doesn't fit our screen."""
    verdicts = read_control(pulled, "verdict", "choices")
    unknown = [verdict for verdict in verdicts if verdict not in _DECISIONS]
    if unknown:
        raise AnnotationError(
            f"The control 'verdict' of task {pulled.task_id} in Label Studio holds {unknown[0]!r};"
            f" callwright knows {', '.join(_DECISIONS)}. Was the labeling interface changed by"
            " hand?"
        )
    reasons = read_control(pulled, "reasons", "choices")
    return ChosenVerdicts(verdicts, reasons, "\n".join(read_control(pulled, "comment", "text")))


def typed_into(pulled: PulledAnnotation, control: str) -> str | None:
    """Return the text of a box; None if nobody touched it."""
    found = read_control(pulled, control, "text")
    return "\n".join(found) if found else None


def read_control(pulled: PulledAnnotation, control: str, field: str) -> tuple[str, ...]:
    """Return the values of one control of the screen; unknown controls are ignored.

    Raises AnnotationError if the control holds something other than texts.
    """
    control_texts: list[str] = []
    for item in pulled.result:
        if item.get("from_name") != control:
            continue
        value = item.get("value")
        entered_texts = value.get(field) if isinstance(value, dict) else None
        entered_texts = [entered_texts] if isinstance(entered_texts, str) else entered_texts
        if not isinstance(entered_texts, list) or not all(
            isinstance(entry, str) for entry in entered_texts
        ):
            raise AnnotationError(
                f"The control {control!r} of task {pulled.task_id} in Label Studio has no texts"
                f" under {field!r}. Was the labeling interface changed by hand?"
            )
        control_texts.extend(str(entry) for entry in entered_texts)
    return tuple(control_texts)
