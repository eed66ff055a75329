"""The review of dialogue acts: every turn of the assistant with what it does (CONFETTI 3.1)."""

import json
from collections.abc import Iterator
from typing import assert_never

from pydantic import JsonValue

from annotation.acts import read_act_lines, tell_reply, write_act_lines
from annotation.calls import tell_snapshot
from annotation.dialogue_editing import write_result
from annotation.edits import with_turns
from annotation.rendering import MESSAGE, SNAPSHOT, Line
from annotation.review import ParsedReview
from annotation.reviews import read_answers, require_subject, review_of, typed_into
from annotation.screens import DIALOGUE_ACTS
from annotation.studio.records import PulledAnnotation
from annotation.task import Returned, task_key
from annotation.words import Words, acts_words_in, words_in
from warehouse.errors import RecordError
from warehouse.records import CallTurn, Language, Record, ReplyTurn, ResultTurn, Sample, UserTurn

CAME_BACK = "←"  # the author of a result; the style of the screen knows it
_CALLS = 240
_TEXT = 4_000
_RESULTS = 20_000


class ActsTask(Record):
    """One task for annotators of dialogue acts; `acts` is what they find in the box for editing, `results` is folded."""

    subject: str
    kind: str = DIALOGUE_ACTS
    version: int = 1
    title: str
    why: str
    conversation: tuple[Line, ...]
    results: str
    acts: str

    @property
    def callwright_key(self) -> str:
        """The name of this task in Label Studio: the same content is never pushed twice under it."""
        return task_key(self.kind, self.subject, self.version)

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it."""
        return {"callwright_key": self.callwright_key, **self.model_dump(mode="json", exclude={"kind"})}


def acts_task(sample: Sample, *, reason: str, language: Language = "en", returned: Returned | None = None) -> ActsTask:
    """The task that asks people whether each turn of the assistant is labelled with what it does."""
    words, general = acts_words_in(language), words_in(language)
    return ActsTask(
        subject=sample.key,
        version=returned.version + 1 if returned else 1,
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=f"{words.returned.format(problem=returned.problem)}\n{reason}" if returned else reason,
        conversation=tuple(_conversation(sample, general)),
        results=_cut("\n\n".join(_results(sample)), _RESULTS) or words.none,
        acts=returned.request if returned else write_act_lines(sample, general),
    )


def _conversation(sample: Sample, general: Words) -> Iterator[Line]:
    """What was said in full, calls and results in a line each, and the assistant's turns with number and acts."""
    number = 0
    for turn in sample.turns:
        match turn:
            case UserTurn(text=text, external=external):
                yield Line(author=general.user, text=_cut(text, _TEXT))
                if external is not None:
                    yield Line(author=MESSAGE, text=_cut(external.text, _TEXT))
            case CallTurn():
                yield Line(author=SNAPSHOT, text=_cut(tell_snapshot(None, turn, general), _CALLS))
            case ResultTurn():
                yield Line(author=CAME_BACK, text=write_result(turn))
            case ReplyTurn():
                number += 1
                yield Line(author=general.assistant, text=_cut(f"{number} {tell_reply(turn, general)}", _TEXT))
            case _:
                assert_never(turn)


def _results(sample: Sample) -> Iterator[str]:
    for turn in sample.turns:
        if isinstance(turn, ResultTurn):
            yield from (json.dumps(result, ensure_ascii=False, indent=2) for result in turn.results)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


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
