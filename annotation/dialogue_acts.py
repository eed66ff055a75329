"""The review of dialogue acts: every turn of the assistant with what it does (CONFETTI 3.1)."""

import json
from collections.abc import Iterator

from callwright.annotation.acts import read_act_lines, render_reply, write_act_lines
from callwright.annotation.calls import render_snapshot, write_result
from callwright.annotation.edits import with_turns
from callwright.annotation.rendering import ConversationStyle, Line, render_conversation
from callwright.annotation.reviews import (
    ChosenVerdicts,
    ParsedReview,
    Returned,
    ReviewTask,
    Typed,
    parse_annotation,
    shortened,
    typed_into,
    version_after,
    why_asked,
)
from callwright.annotation.screens import DIALOGUE_ACTS, SampleScreenWords, acts_words_in, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language, ResultTurn, Sample

CAME_BACK = "←"  # the author of a result; the style of the screen knows it
_CALLS = 240
_TEXT = 4_000
_RESULTS = 20_000


class ActsTask(ReviewTask):
    """One task for annotators of dialogue acts; `acts` is what they find in the box for editing, `results` is folded."""

    kind: str = DIALOGUE_ACTS
    conversation: tuple[Line, ...]
    results: str
    acts: str


def acts_task(
    sample: Sample, *, reason: str, language: Language = DEFAULT_LANGUAGE, returned: Returned | None = None
) -> ActsTask:
    """The task that asks people whether each turn of the assistant is labelled with what it does."""
    words, general = acts_words_in(language), words_in(language)
    return ActsTask(
        subject=sample.key,
        version=version_after(returned),
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=why_asked(reason, returned, words.returned),
        conversation=tuple(_conversation(sample, general)),
        results=shortened("\n\n".join(_results(sample)), _RESULTS) or words.none,
        acts=returned.request if returned else write_act_lines(sample, general),
    )


def _conversation(sample: Sample, general: SampleScreenWords) -> Iterator[Line]:
    """The texts in full, calls and results in a line each, and the assistant's turns with number and acts."""
    style = ConversationStyle(
        calls=lambda _, turn: shortened(render_snapshot(None, turn, general), _CALLS),
        results=lambda _, turn: write_result(turn),
        reply=lambda place, turn: f"{place.number} {render_reply(turn, general)}",
        result_author=CAME_BACK,
        message=lambda message: message.text,
        most=_TEXT,
    )
    return render_conversation(sample, general, style)


def _results(sample: Sample) -> Iterator[str]:
    for turn in sample.turns:
        if isinstance(turn, ResultTurn):
            yield from (json.dumps(result, ensure_ascii=False, indent=2) for result in turn.results)


def parse_acts_review(pulled: PulledAnnotation, sample: Sample) -> ParsedReview:
    """The review that an annotation of the dialogue acts of `sample` holds: corrected brackets make a new version of it."""

    def read(_answers: ChosenVerdicts) -> Typed:
        typed = typed_into(pulled, "edited_acts")
        return Typed(lambda: _edited(typed, sample), lambda problem: _returned(pulled, sample, typed, problem))

    return parse_annotation(pulled, sample.key, read)


def _edited(typed: str | None, sample: Sample) -> Sample:
    if typed is None:
        raise RecordError("The box with the dialogue acts was left empty.")
    return with_turns(sample, read_act_lines(typed, sample))


def _returned(pulled: PulledAnnotation, sample: Sample, typed: str | None, problem: str) -> Returned:
    before = write_act_lines(sample, words_in(DEFAULT_LANGUAGE)) if typed is None else typed
    return Returned(request=before, calls="", problem=problem, version=pulled.version)
