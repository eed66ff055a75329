"""Conversations that people edit as lines: what is written is read back, and what is typed is
used or refused.
"""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from callwright.annotation.dialogue_editing import read_dialogue, write_dialogue
from callwright.annotation.sample_review import parse_review
from callwright.annotation.screens import words_in
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
)

LINES = """\
User 1: A table at Blue Boat, please.
-> book_table
+ restaurant = Blue Boat
Assistant: For which day?
User 2: The day that Ann names.
[Mail] Let us meet on the 3rd of May.
+ date = 2026-05-03
Assistant: How many are you?
User 3: We are three.
+ people = 3
Assistant: At what time?
User 4: Sorry, there will be four of us.
~ people = 4"""
IN_CHINESE = LINES.replace("User", "用户").replace("Assistant", "助手")


def _arguments(turns) -> list[list[dict[str, object]]]:
    return [[call.arguments for call in turn.calls] for turn in turns if isinstance(turn, CallTurn)]


def _edited(sample, tools, old: str, new: str):
    lines = write_dialogue(sample, words_in("en"))
    assert lines.count(old) == 1, "this would change something else"
    return read_dialogue(lines.replace(old, new), sample, tools)


def test_a_conversation_is_written_one_line_a_turn_and_one_for_each_change(dialogue):
    assert write_dialogue(dialogue, words_in("en")) == LINES
    assert write_dialogue(dialogue, words_in("zh")) == IN_CHINESE


def test_a_changed_value_holds_in_all_snapshots_that_follow(dialogue, tools):
    turns = _edited(dialogue, tools, "+ restaurant = Blue Boat", "+ restaurant = Red Boat")
    assert [calls[0]["restaurant"] for calls in _arguments(turns)] == ["Red Boat"] * 4
    assert [calls[0].get("people") for calls in _arguments(turns)] == [None, None, 3, 4]


def test_a_snapshot_may_say_that_no_call_is_due_or_nothing_changes(dialogue, tools):
    assert _arguments(_edited(dialogue, tools, "~ people = 4", "-- no call is due"))[-1] == []
    assert _arguments(_edited(dialogue, tools, "~ people = 4", "-- 没有变化"))[-1][0]["people"] == 3
    assert _arguments(_edited(dialogue, tools, "\n~ people = 4", ""))[-1][0]["people"] == 3


def test_texts_of_users_assistant_and_messages_can_be_reworded(dialogue, tools):
    turns = _edited(dialogue, tools, "We are three.", "Three of us,\n  all hungry.")
    assert turns[6].text == "Three of us,\nall hungry."
    assert _edited(dialogue, tools, "How many are you?", "How many guests?")[5] == ReplyTurn(
        text="How many guests?"
    )
    assert _edited(dialogue, tools, "[Mail] Let us", "[Chat] Let us")[3].external.app == "Chat"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("+ people = 3", "people = 3", r"Line 10 is not understood: 'people = 3'"),
        ("+ people = 3", "+ people: 3", r"Line 10: write an argument as `\+ name = value`"),
        ("+ people = 3", "+ people =", "Line 10: 'people' has no value"),
        ("+ people = 3", "+ people = [3", "Line 10: The value .* is not valid JSON"),
        (
            "+ people = 3",
            "+ people = three",
            "Line 10: book_table, people: 'three' is not of type 'integer'",
        ),
        ("+ people = 3", "+ people = 1e999", "1e999 is not a number"),
        ("+ people = 3", "+ people = 3\n+ people = 4", "Line 11: 'people' occurs twice"),
        ("+ people = 3", "+ wine = red", "Line 10: book_table has no parameter 'wine'"),
        ("+ people = 3", '+ "people = 3', "Line 10: .*no closing quotation mark"),
        ("+ people = 3", "- people", "Line 10: the call has no argument 'people' to remove"),
        (
            "+ people = 3",
            "- date = x",
            "Line 10: remove an argument with `- name`, without a value",
        ),
        ("+ people = 3", "-> fly", 'Line 10: "fly" is not an offered tool'),
        ("+ people = 3", "->", "Line 10: write the name of one tool after"),
        (
            "+ people = 3",
            "-- no idea",
            "Line 10: `-- no idea` is not understood; write `-- no call is due`",
        ),
        (
            "+ people = 3",
            "+ people = 3\n-- nothing changes",
            "Line 11: `-- nothing changes` can't be combined",
        ),
        ("+ people = 3", "-- no call is due", "Line 13: name the tool first"),
        (
            "-> book_table\n+ restaurant = Blue Boat\n",
            "",
            "The first user turn must say which call is due",
        ),
        ("-> book_table\n", "", "Line 2: name the tool first"),
        (
            "-> book_table\n+ restaurant = Blue Boat",
            "-- nothing changes",
            "Line 2: no call comes before",
        ),
        ("+ date = 2026-05-03", "+ day = 1", "Line 7: book_table has no parameter 'day'"),
        ("\n+ date = 2026-05-03", "", "book_table: 'date' is a required property"),
        (
            "User 3: We are three.\n",
            "",
            "Line 9: what the user says was expected, not the calls due",
        ),
        (
            "Assistant: At what time?\n",
            "",
            "Line 11: what the assistant says was expected, not what the user says",
        ),
        (
            "User 4: Sorry, there will be four of us.\n~ people = 4",
            "",
            "The conversation ends, but what the user says must come next",
        ),
        (
            "~ people = 4",
            "~ people = 4\nAssistant: Done.",
            "Line 14: the end of the conversation was expected",
        ),
        ("We are three.", "", "Line 9: this turn has no text"),
        ("[Mail] Let us meet on the 3rd of May.\n", "", "Line 5: this turn has lost its message"),
        ("We are three.", "We are three.\n[Mail] Four.", "Line 9: this turn has no message"),
        ("[Mail] Let", '["Mail Let', "Line 6: .*no closing quotation mark"),
        ("[Mail] Let", "[Mail Let", "Line 6: the name of the app has no closing"),
        (
            "For which day?",
            "For which day?\n[Mail] Hello.",
            r"Line 5: a message in \[Mail\] must come right after",
        ),
        ("We are three.", "We are \ud800.", "The conversation can't be stored"),
        ("We are three.", "We.\n" + "\n" * 5000 + "Yes.", "has 5014 lines; at most 3000 are"),
    ],
)
def test_lines_that_cannot_be_used_are_refused_with_their_number(
    old, new, problem, dialogue, tools
):
    with pytest.raises(RecordError, match=problem):
        _edited(dialogue, tools, old, new)


def test_what_a_call_came_back_with_can_not_be_changed(sample, tools):
    call = CallTurn(
        calls=(GoldCall(tool="cancel_table", arguments={"booking": "B1"}),), executed=True
    )
    longer = sample.with_changes(
        turns=(UserTurn(text="Cancel B1."), call, ResultTurn(results=({"done": True},)))
    )
    lines = write_dialogue(longer, words_in("en"))
    assert lines.splitlines()[-1] == '<- [{"done": true}]'
    with pytest.raises(RecordError, match="Line 4: results can't be changed here"):
        read_dialogue(lines.replace("true", "false"), longer, tools)
    with pytest.raises(RecordError, match="'booking' is a required property"):
        read_dialogue(lines.replace("\n+ booking = B1", ""), longer, tools)


def test_a_fault_that_was_there_before_keeps_no_other_edit_back(dialogue, tools):
    faulty = GoldCall(tool="book_table", arguments={"restaurant": "Blue Boat", "seating": 7})
    sample = dialogue.with_changes(
        turns=(dialogue.turns[0], CallTurn(calls=(faulty,)), *dialogue.turns[2:])
    )
    turns = _edited(sample, tools, "We are three.", "Three.")
    assert turns[1].calls == (faulty,)
    assert turns[6].text == "Three."


# From here on by way of the annotation.


def test_an_edited_conversation_is_a_child_of_the_sample_with_its_kind_and_facts(
    annotate, dialogue, tools
):
    typed = LINES.replace("~ people = 4", "~ people = 5").replace("four of us", "five of us")
    parsed = parse_review(annotate(("edit",), request=typed, subject=dialogue.key), dialogue, tools)
    edited = parsed.edited
    assert (parsed.outcome, parsed.review.decision, parsed.review.result) == (
        "reviewed",
        "edit",
        edited.key,
    )
    assert (edited.kind, edited.facts, edited.candidates) == (
        dialogue.kind,
        dialogue.facts,
        dialogue.candidates,
    )
    assert edited.origin.parents == (dialogue.key,)
    assert edited.turns[:9] == dialogue.turns[:9]
    assert {item.argument: item.kind for item in edited.gold[0].evidence} == {
        "restaurant": "span",
        "date": "normalised",
        "people": "person",
    }


def test_evidence_goes_where_its_words_go_and_ends_where_they_end(annotate, dialogue, tools):
    typed = LINES.replace("[Mail] Let", "[Mail] Well, let").replace("at Blue Boat", "at the Boat")
    edited = parse_review(
        annotate(("edit",), request=typed, subject=dialogue.key), dialogue, tools
    ).edited
    for snapshot in list(edited.snapshots())[1:]:
        found = {item.argument: item for item in snapshot.calls[0].evidence}
        assert found["restaurant"].kind == "person"
        assert (
            edited.turns[3].external.text[found["date"].start : found["date"].end] == "3rd of May"
        )


def test_line_ends_and_blanks_around_a_conversation_are_no_edit(annotate, dialogue, tools):
    typed = f"\r\n{LINES}\r\n".replace("\n", "\r\n")
    parsed = parse_review(annotate(("edit",), request=typed, subject=dialogue.key), dialogue, tools)
    assert parsed.outcome == "returned"
    assert "nothing is edited" in parsed.returned.problem


@pytest.mark.parametrize("typed", [None, "User 1: Hello."])
def test_an_unusable_conversation_comes_back_as_it_was_typed(typed, annotate, dialogue, tools):
    parsed = parse_review(annotate(("edit",), request=typed, subject=dialogue.key), dialogue, tools)
    assert (parsed.outcome, parsed.review) == ("returned", None)
    assert parsed.returned.request == (LINES if typed is None else typed)
    assert parsed.returned.calls == ""
    assert parsed.returned.problem.startswith(
        "The box with" if typed is None else "The first user turn must say"
    )


_NAMES = st.text(min_size=1, max_size=8) | st.sampled_from(
    ["a", "a = b", '"', "]", " x ", "->", "- ", "日期", "=", "user"]
)
_TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        "+ a = 1",
        "x\n-> t",
        "x\r\ny",
        "  in\n\n  the\rmiddle  ",
        "\n",
        "Assistant: no",
        "[Mail] y",
        "<- []",
        "--",
        "\u2028",
    ]
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS
    | st.sampled_from(
        ["19", "007", "1.0", "true", "null", "NaN", "", "“", '"', "[", "{}", "-1e5", "\t"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=5,
)
_CALLS = st.lists(
    st.builds(
        GoldCall,
        tool=st.sampled_from(["t", "u"]) | _NAMES,
        arguments=st.dictionaries(_NAMES, _VALUES, max_size=3),
    ),
    max_size=2,
).map(tuple)
_TURNS = st.lists(
    st.builds(
        UserTurn,
        text=_TEXTS,
        external=st.none() | st.builds(Message, app=_NAMES | st.just(""), text=_TEXTS),
    )
    | st.builds(CallTurn, calls=_CALLS, executed=st.booleans())
    | st.builds(ResultTurn, results=st.lists(_VALUES, max_size=2).map(tuple))
    | st.builds(ReplyTurn, text=_TEXTS),
    min_size=1,
    max_size=7,
)


def _sample(turns) -> Sample:
    return Sample(kind="mQmA", language="en", category="c", candidates=(), turns=tuple(turns))


@given(_TURNS, st.sampled_from(["en", "zh"]), st.booleans())
def test_whatever_conversation_is_written_is_read_back_the_same(turns, language, is_windows):
    sample = _sample(turns)
    lines = write_dialogue(sample, words_in(language))
    assume(lines.count("\n") < 3000)
    assert (
        read_dialogue(lines.replace("\n", "\r\n") if is_windows else lines, sample, [])
        == sample.turns
    )


_WORDS = st.sampled_from(
    ["t", "a", "=", "19", "people", "four", "]", "[Mail]", '"', "date", "{", "无", "\ufeff"]
)
_LINE = st.builds(
    lambda start, words: start + " ".join(words),
    st.sampled_from(
        ["User: ", "助手：", "-> ", "+ ", "~ ", "- ", "-- ", "--", "[", "<- ", "  ", ""]
    ),
    st.lists(_WORDS, max_size=4),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    typed=st.lists(_LINE, max_size=6).map("\n".join) | st.text(max_size=60),
    place=st.integers(0, 13),
    replaces=st.booleans(),
)
def test_whatever_is_typed_into_a_conversation_is_used_or_refused(
    typed, place, replaces, dialogue, tools
):
    lines = LINES.split("\n")
    text = "\n".join([*lines[:place], typed, *lines[place + replaces :]])
    try:
        turns = read_dialogue(text, dialogue, tools)
    except RecordError:
        return
    assert [turn.kind for turn in turns] == [turn.kind for turn in dialogue.turns]
    edited = dialogue.with_changes(turns=turns)
    assert read_dialogue(write_dialogue(edited, words_in("en")), edited, tools) == turns
