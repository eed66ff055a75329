"""Dialogue acts in a review of their own: what is asked about them, and what comes of the
answers.
"""

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.dialogue_acts import (
    acts_task,
    parse_acts_review,
    read_act_lines,
    write_act_lines,
)
from callwright.annotation.screens import interface_languages, screen_for, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.errors import AnnotationError, RecordError
from callwright.warehouse.records import DialogueAct, Language, ReplyTurn, Sample
from tests.support.conversational import converse

LANGUAGES = interface_languages()


@pytest.fixture(scope="module")
def talk() -> Sample:
    """Six turns of the assistant: reject, seek, inform, seek, inform, other."""
    return asyncio.run(converse("underfill"))


@pytest.fixture
def pull(annotate, talk: Sample):
    """An annotation of the conversation: the verdict, and what the box holds."""

    def pull(*verdicts: str, acts: str | None = None, **changes: object) -> PulledAnnotation:
        pulled = annotate(verdicts, subject=talk.key, kind="dialogue_acts", **changes)
        box = {
            "from_name": "edited_acts",
            "to_name": "conversation",
            "type": "textarea",
            "value": {"text": [acts]},
        }
        return pulled.with_changes(result=(*pulled.result, *([] if acts is None else [box])))

    return pull


def _acts(sample: Sample) -> list[tuple[DialogueAct, ...]]:
    return [turn.acts for turn in sample.turns if isinstance(turn, ReplyTurn)]


def _lines(sample: Sample) -> str:
    return write_act_lines(sample, words_in("en"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_turn_of_the_assistant_is_shown_with_its_number_and_its_acts(
    language: Language, talk: Sample
) -> None:
    words = words_in(language)
    task = acts_task(talk, reason="Drawn.", language=language)
    said = [line.text for line in task.conversation if line.author == words.assistant]
    replies = [turn for turn in talk.turns if isinstance(turn, ReplyTurn)]
    assert len(replies) == 6
    assert said == [
        f"{number} [{', '.join(words.act[act] for act in turn.acts)}] {turn.text}"
        for number, turn in enumerate(replies, 1)
    ]
    assert [line.split("]")[0] for line in task.acts.split("\n")] == [
        text.split("]")[0] for text in said
    ]


def test_the_screen_shows_nothing_but_what_is_in_the_task(talk: Sample) -> None:
    screen = screen_for("dialogue_acts")
    data = acts_task(talk, reason="Drawn.").data()
    assert {"acts", "conversation", "results", "title", "why"} == {
        name for name in data if f'"${name}"' in screen.config
    }
    assert set(screen.hidden_columns) < set(data)
    assert data["callwright_key"] == f"dialogue_acts:{talk.key}:1"


@pytest.mark.parametrize(
    "typed",
    [
        "3 [inform, seek] {text}",
        "3［告知、询问］{text}",
        "  3   [Seek,inform]   {text}",
        "３ [询问，告知] {text}",
    ],
)
def test_corrected_brackets_make_a_child_that_differs_in_nothing_else(
    typed: str, talk: Sample, pull
) -> None:
    third = _lines(talk).split("\n")[2]
    assert third.startswith("3 [inform] ")
    lines = _lines(talk).replace(third, typed.format(text=third.removeprefix("3 [inform] ")))
    parsed = parse_acts_review(pull("edit", acts=lines), talk)
    assert parsed.edited is not None
    assert _acts(parsed.edited)[2] == ("seek", "inform")
    assert [acts for at, acts in enumerate(_acts(parsed.edited)) if at != 2] == [
        acts for at, acts in enumerate(_acts(talk)) if at != 2
    ]
    assert (parsed.edited.origin.stage, parsed.edited.origin.parents) == ("review", (talk.key,))
    assert parsed.edited.with_changes(turns=talk.turns, origin=talk.origin) == talk
    assert parsed.review.decision == "edit"
    assert parsed.review.result == parsed.edited.key
    assert parsed.review.kind == "dialogue_acts"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2 [seek]", "2 [ask]", "Line 2: there is no dialogue act 'ask'; write"),
        ("2 [seek]", "2 []", "Line 2: the assistant's words need at least one dialogue act"),
        ("2 [seek]", "2", "Line 2: the assistant's words must begin with their dialogue acts"),
        ("2 [seek]", "2 [seek, seek]", "Line 2: the dialogue act 'seek' is given twice"),
        ("2 [seek]", "2 [other, seek]", "Line 2: 'other' can't be combined"),
        ("2 [seek]", "2 [call]", "Line 2: the assistant's words can't be labelled 'call'"),
        ("2 [seek]", "[seek]", "Line 2 must begin with the number 2"),
        ("2 [seek]", "9 [seek]", "Line 2 must begin with the number 2"),
        ("2 [seek]", "²[seek]", "Line 2 must begin with the number 2"),
        ("2 [seek] ", "2 [seek] Oh. ", "Line 2 changes the text of turn 2: "),
        ("2 [seek] {second}\n", "", "Line 2 must begin with the number 2"),
        ("\n6 [other] {last}", "", "The lines end before turn 6 of 6"),
        (
            "6 [other] {last}",
            "6 [other] {last}\n\n7 [other] Bye.",
            "Line 8 is one too many: there are 6 turns",
        ),
    ],
)
def test_what_can_not_be_used_comes_back_with_the_reason(
    old: str, new: str, problem: str, talk: Sample, pull
) -> None:
    second, last = (_lines(talk).splitlines()[at].partition("] ")[2] for at in (1, 5))
    typed = _lines(talk).replace(*(text.format(second=second, last=last) for text in (old, new)))
    assert typed != _lines(talk)
    with pytest.raises(RecordError) as refused:
        read_act_lines(typed, talk)
    assert str(refused.value).startswith(problem)
    parsed = parse_acts_review(pull("edit", acts=typed), talk)
    assert parsed.review is None
    assert parsed.edited is None
    assert parsed.returned.request == typed
    again = acts_task(talk, reason="Drawn.", returned=parsed.returned)
    assert (again.version, again.acts) == (2, typed)
    assert again.why == f"Your edit came back: {refused.value}\nDrawn."


@given(st.text(max_size=300))
def test_whatever_is_typed_is_read_or_refused_with_a_sentence(talk: Sample, typed: str) -> None:
    with suppress(RecordError):
        assert len(read_act_lines(typed, talk)) == len(talk.turns)


def test_what_stands_in_the_box_counts_for_an_edit_alone(talk: Sample, pull) -> None:
    typed = _lines(talk).replace("[reject]", "[inform]")
    assert parse_acts_review(pull("accept", acts=typed), talk).review.decision == "accept"
    review = parse_acts_review(
        pull("reject", acts=typed, reasons=("unnatural",), comment="Stiff."), talk
    ).review
    assert (review.decision, review.reasons, review.comment, review.result) == (
        "reject",
        ("unnatural",),
        "Stiff.",
        None,
    )


def test_an_annotation_of_something_else_is_refused(talk: Sample, pull) -> None:
    with pytest.raises(AnnotationError, match="is about 'another'"):
        parse_acts_review(pull("accept").with_changes(subject="another"), talk)
    with pytest.raises(AnnotationError, match="holds 'perhaps'"):
        parse_acts_review(pull("perhaps"), talk)
