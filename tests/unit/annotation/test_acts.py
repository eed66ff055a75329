"""Dialogue acts of the assistant's turns, as people see and correct them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.dialogue_acts import read_acts
from callwright.annotation.dialogue_editing import read_dialogue, write_dialogue
from callwright.annotation.rendering import write_acts
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.screens import words_in
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import DialogueAct, Language, ReplyTurn, Sample, Tool
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
    assert task.request.count("Assistant: [") == len(replies)
    assert read_dialogue(task.request, sample, tools) == sample.turns


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
    lines = write_dialogue(labelled, words_in("en")).replace("[seek] For which day?", typed)
    pulled = annotate(("edit",), request=lines, subject=labelled.key)
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
            "Line 4: there is no dialogue act 'ask'; write .*seek, inform, reject, other",
        ),
        (
            "For which day?",
            r"Line 4: the assistant's words must begin with their dialogue acts: \[inform\]",
        ),
        ("[] For which day?", "Line 4: the assistant's words need at least one dialogue act"),
        ("[seek, seek] For which day?", "Line 4: the dialogue act 'seek' is given twice"),
        ("[seek,] For which day?", "Line 4: there is no dialogue act ''"),
        ("[call] For which day?", "Line 4: the assistant's words can't be labelled 'call'"),
        ("[other, seek] For which day?", "Line 4: 'other' can't be combined"),
        ("[seek]", "Line 4: this turn has no text"),
        (
            "[seek For which day?",
            "Line 4: the assistant's words must begin with their dialogue acts",
        ),
    ],
)
def test_acts_that_cannot_be_used_come_back_with_the_reason(
    typed: str, problem: str, labelled: Sample, tools: list[Tool], annotate
) -> None:
    lines = write_dialogue(labelled, words_in("en")).replace("[seek] For which day?", typed)
    with pytest.raises(RecordError, match=problem):
        read_dialogue(lines, labelled, tools)
    returned = parse_review(
        annotate(("edit",), request=lines, subject=labelled.key), labelled, tools
    ).returned
    assert returned is not None
    assert returned.request == lines
    assert "Line 4" in returned.problem


def test_a_turn_that_nobody_labelled_may_stay_so_and_may_be_labelled(
    labelled: Sample, tools: list[Tool]
) -> None:
    bare = labelled.turns[2].with_changes(acts=())
    sample = labelled.with_changes(turns=(*labelled.turns[:2], bare, *labelled.turns[3:]))
    lines = write_dialogue(sample, words_in("en"))
    assert "Assistant: [] For which day?" in lines
    assert read_dialogue(lines, sample, tools) == sample.turns
    assert read_dialogue(lines.replace("[] For", "[seek] For"), sample, tools) == labelled.turns
