"""Dialogue acts of the assistant's turns, as people see and correct them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.dialogue_acts import read_acts
from callwright.annotation.edit_rows import entered_turns
from callwright.annotation.rendering import write_acts
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.screens import words_in
from callwright.warehouse.records import DialogueAct, Language, ReplyTurn, Sample, Tool
from tests.support.annotation.editing import as_sent, named
from tests.support.conversational import TOOLS, converse

ACTS: tuple[DialogueAct, ...] = ("seek", "inform", "reject")
some_acts = st.lists(st.sampled_from(ACTS), min_size=1, unique=True).map(tuple) | st.just(
    ("other",)
)
SEEKS = ReplyTurn(text="For when?", acts=("seek",))


@pytest.fixture
def labelled(dialogue: Sample) -> Sample:
    turns = [
        turn.with_changes(acts=("seek",)) if isinstance(turn, ReplyTurn) else turn
        for turn in dialogue.turns
    ]
    return dialogue.with_changes(turns=tuple(turns))


def _said(sample: Sample, tools: list[Tool], first: str) -> dict[str, str]:
    """What is sent when the assistant's first words are these."""
    rows = review_task(sample, tools, [], reason="-").data()["rows"]
    return as_sent(rows) | {named(rows, "Assistant"): first}


@given(some_acts, st.sampled_from(["en", "zh"]), st.text())
def test_acts_are_read_back_as_they_were_written(
    acts: tuple[DialogueAct, ...], language: Language, text: str
) -> None:
    told, said = read_acts(write_acts(acts, words_in(language)) + text, SEEKS)
    assert set(told) == set(acts)
    assert said == text


async def test_a_task_shows_the_acts_of_each_turn_of_a_conversation() -> None:
    sample = await converse("underfill")
    tools = [TOOLS[key] for key in sample.candidates]
    replies = [turn for turn in sample.turns if isinstance(turn, ReplyTurn)]
    task = review_task(sample, tools, [], reason="A spot check.")
    shown = [line.text for line in task.conversation if line.author == "Assistant"]
    assert shown == [f"[{', '.join(turn.acts)}] {turn.text}" for turn in replies]
    held = [row.words[0].value for row in task.rows if row.name == "Assistant"]
    assert held == shown
    assert entered_turns(as_sent(task.data()["rows"]), sample, tools) == sample.turns


@pytest.mark.parametrize(
    "typed",
    [
        "[inform, seek] For which day?",
        "[Inform,seek]For which day?",
        "［告知，询问］ For which day?",
        "[询问、告知] For which day?",
    ],
)
def test_corrected_acts_are_those_of_the_edited_sample(
    typed: str, labelled: Sample, tools: list[Tool], annotate
) -> None:
    entered = _said(labelled, tools, typed)
    pulled = annotate(("edit",), typed=entered, subject=labelled.key)
    parsed = parse_review(pulled, labelled, tools)
    assert parsed.outcome == "reviewed"
    assert parsed.edited is not None
    assert parsed.edited.turns[2] == ReplyTurn(text="For which day?", acts=("seek", "inform"))
    assert [turn for at, turn in enumerate(parsed.edited.turns) if at != 2] == [
        turn for at, turn in enumerate(labelled.turns) if at != 2
    ]
    assert parsed.edited.origin is not None
    assert parsed.edited.origin.parents == (labelled.key,)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        (
            "[ask] For which day?",
            "Assistant: there is no dialogue act 'ask'; write .*seek, inform, reject, other",
        ),
        (
            "For which day?",
            r"Assistant: the assistant's words must begin with their dialogue acts: \[inform\]",
        ),
        ("[] For which day?", "Assistant: the assistant's words need at least one dialogue act"),
        ("[seek, seek] For which day?", "Assistant: the dialogue act 'seek' is given twice"),
        ("[seek,] For which day?", "Assistant: there is no dialogue act ''"),
        ("[call] For which day?", "Assistant: the assistant's words can't be labelled 'call'"),
        ("[other, seek] For which day?", "Assistant: 'other' can't be combined"),
        ("[seek]", "Assistant: This turn has no text"),
        (
            "[seek For which day?",
            "Assistant: the assistant's words must begin with their dialogue acts",
        ),
    ],
)
def test_acts_that_cannot_be_used_come_back_with_the_reason(
    typed: str, problem: str, labelled: Sample, tools: list[Tool], annotate
) -> None:
    entered = _said(labelled, tools, typed)
    returned = parse_review(
        annotate(("edit",), typed=entered, subject=labelled.key), labelled, tools
    ).returned
    assert returned is not None
    assert typed in returned.calls
    assert re.search(problem, returned.problem)


def test_a_turn_that_nobody_labelled_may_stay_so_and_may_be_labelled(
    labelled: Sample, tools: list[Tool]
) -> None:
    bare = labelled.turns[2].with_changes(acts=())
    sample = labelled.with_changes(turns=(*labelled.turns[:2], bare, *labelled.turns[3:]))
    entered = _said(sample, tools, "[] For which day?")
    assert entered == as_sent(review_task(sample, tools, [], reason="-").data()["rows"])
    assert entered_turns(entered, sample, tools) == sample.turns
    assert (
        entered_turns(_said(sample, tools, "[seek] For which day?"), sample, tools)
        == labelled.turns
    )
