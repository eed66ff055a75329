"""An edit as rows of its task: what is entered is what is meant, and nothing that nobody touched
changes.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.annotation.calls import is_same
from callwright.annotation.edit_rows import (
    edit_rows,
    entered_before,
    entered_turns,
    read_entered,
    write_entered,
)
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.screens import words_in
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Message,
    Reading,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.annotation.editing import as_sent, edited, more_of, named

WORDS = words_in("en")
_TEXTS = st.text(max_size=20).filter(lambda text: "\r" not in text)
_WHOLE = st.integers(-(2**63), 2**63 - 1)
_NUMBERS = _WHOLE | st.floats(allow_nan=False, allow_infinity=False)
_DAYS = st.dates().map(str)
_MIXED = ["inside", "19", 19, "", "true", True]
# A schema, and the values that fit it.
_SCHEMAS = st.sampled_from(
    [
        ({"type": "string"}, _TEXTS),
        ({"type": "string", "format": "date"}, _DAYS),
        ({"type": "integer"}, _WHOLE),
        ({"type": "number"}, _NUMBERS),
        ({"type": "boolean"}, st.booleans()),
        ({"enum": _MIXED}, st.sampled_from(_MIXED)),
        ({"type": "array", "items": {"type": "string"}}, st.lists(_TEXTS, max_size=4)),
        ({"type": "array", "items": {"type": "integer"}}, st.lists(st.integers(-9, 9), max_size=4)),
        (
            {"type": "array", "items": {"type": "object"}},
            st.lists(st.dictionaries(_TEXTS, _NUMBERS), max_size=3),
        ),
        ({"type": "object"}, st.dictionaries(_TEXTS, _TEXTS | _NUMBERS | st.none(), max_size=3)),
    ]
)


def _tool(properties: dict) -> Tool:
    return Tool(
        name="set",
        description="-",
        category="-",
        parameters={"type": "object", "properties": properties, "required": []},
    )


def _sample(tool: Tool, arguments: dict) -> Sample:
    call = GoldCall(tool=tool.name, arguments=arguments)
    turns = (UserTurn(text="Set it."), CallTurn(calls=(call,)))
    return Sample(kind="perfect", language="en", category="-", candidates=(tool.key,), turns=turns)


def _rows(sample: Sample, tools, entered=None, language="en") -> list[dict]:
    made = edit_rows(sample, tools, (), words_in(language), entered or {})
    return [row.model_dump(mode="json") for row in made]


def _arguments(turns) -> list[list[dict[str, object]]]:
    return [[call.arguments for call in turn.calls] for turn in turns if isinstance(turn, CallTurn)]


@given(
    st.lists(_SCHEMAS, max_size=4).flatmap(
        lambda some: st.tuples(st.just(some), st.tuples(*(v for _, v in some)))
    )
)
def test_rows_that_nobody_touched_give_the_sample_back(drawn):
    schemas, values = drawn
    tool = _tool({f"p{at}": schema for at, (schema, _) in enumerate(schemas)})
    sample = _sample(tool, {f"p{at}": value for at, value in enumerate(values)})
    assert entered_turns(as_sent(_rows(sample, [tool])), sample, [tool]) == sample.turns


@given(_SCHEMAS.flatmap(lambda one: st.tuples(st.just(one[0]), one[1], one[1])))
def test_what_is_entered_in_a_row_is_the_value_that_is_meant(drawn):
    schema, old, new = drawn
    tool = _tool({"p": schema})
    sample, meant = _sample(tool, {"p": old}), _sample(tool, {"p": new})
    before = _rows(sample, [tool])
    control = named(before, "p")
    if control.startswith("choice"):
        options = schema.get("enum", [True, False])
        value = str(next(at for at, one in enumerate(options, 1) if is_same(one, new)))
    else:
        value = as_sent(_rows(meant, [tool]))[control]
    turns = entered_turns(as_sent(before) | {control: value}, sample, [tool])
    assert is_same(turns[1].calls[0].arguments, {"p": new})


def test_the_rows_are_the_tools_and_say_the_gold_and_what_a_reader_wrote(sample, tools):
    written = Call(tool="book_table", arguments={"restaurant": "Verde", "date": "2026-05-03"})
    reading = Reading(turn=1, calls=(written,), votes=("written",))
    rows = edit_rows(sample, tools, [reading], WORDS, {})
    restaurant, date, *_ = rows
    assert (restaurant.name, restaurant.was) == ("restaurant (string)", "Trattoria Verde")
    assert restaurant.read == "⟦Reader: Verde⟧"
    assert (date.was, date.read, date.line[0].value) == ("2026-05-03", "", "2026-05-03")
    [seating] = [row for row in rows if row.name.startswith("seating")]
    options = seating.choice[0].values
    assert [one.value for one in options] == ["not given", "inside", "outside", "bar"]
    assert [one.selected for one in options] == [True, False, False, False]
    assert [row.name for row in rows[-4:]] == ["Tool", "User", "✉ Mail", ""]


def test_an_argument_is_changed_added_and_taken_away(sample, tools):
    rows = _rows(sample, tools)
    entered = as_sent(rows) | {
        named(rows, "people"): "4",
        named(rows, "seating"): "3",
        named(rows, "date"): "2026-05-04",
    }
    [[call]] = _arguments(entered_turns(entered, sample, tools))
    assert call == sample.gold[0].arguments | {"date": "2026-05-04", "people": 4, "seating": "bar"}
    entered |= {more_of(rows): "- people\n＋ time ＝ 20:00"}
    [[call]] = _arguments(entered_turns(entered, sample, tools))
    assert "people" not in call
    assert call["time"] == "20:00"
    for nothing in ("", " - "):
        entered = as_sent(rows) | {named(rows, "time"): nothing}
        [[call]] = _arguments(entered_turns(entered, sample, tools))
        assert "time" not in call
    entered = as_sent(rows) | {named(rows, "restaurant"): '"-"'}
    [[call]] = _arguments(entered_turns(entered, sample, tools))
    assert call["restaurant"] == "-"


def test_another_tool_is_chosen_with_its_arguments_as_lines(sample, tools):
    rows = _rows(sample, tools)
    cancel = GoldCall(tool="cancel_table", arguments={"booking": "B7"})
    at, more = named(rows, "Tool"), more_of(rows)
    other = as_sent(rows) | {at: "1", more: "booking = B7"}
    assert entered_turns(other, sample, tools)[1].calls == (cancel,)
    none = as_sent(rows) | {at: "0"}
    assert entered_turns(none, sample, tools)[1].calls == ()
    again = none | {more: "-> cancel_table\n+ booking = B7"}
    assert entered_turns(again, sample, tools)[1].calls == (cancel,)
    two = as_sent(rows) | {more: "-> cancel_table\n+ booking = B7"}
    assert entered_turns(two, sample, tools)[1].calls == (*_bare(sample), cancel)


def _bare(sample: Sample) -> list[GoldCall]:
    return [GoldCall(tool=call.tool, arguments=call.arguments) for call in sample.gold]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"Tool": "99"}, "'99' was not offered"),
        ({"Tool": "0", "": "booking = B7"}, "belongs to no call"),
        ({"": "what?"}, "is no `name = value`"),
        ({"": "-> fly"}, "is not an offered tool"),
        ({"": "- wine"}, "no argument 'wine'"),
        ({"": "wine = red"}, "no parameter 'wine'"),
        ({"people": "[1"}, "people: "),
        ({"people": "1e999"}, "1e999 is not a number"),
        ({"people": "many"}, "'many' is not of type 'integer'"),
        ({"date": ""}, "'date' is a required property"),
        ({"User": " "}, "User: This turn has no text"),
        ({"User": "We are \ud800."}, "What was entered can't be stored"),
    ],
)
def test_what_cannot_be_read_comes_back_as_it_was_entered(
    changed, problem, annotate, sample, tools
):
    rows = _rows(sample, tools)
    entered = as_sent(rows) | {named(rows, name): text for name, text in changed.items()}
    pulled = annotate(("edit",), typed={name: text for name, text in entered.items() if text})
    parsed = parse_review(pulled, sample, tools)
    assert parsed.outcome == "returned"
    assert problem in parsed.returned.problem
    again = review_task(sample, tools, [], reason="-", returned=parsed.returned)
    known = {name: text for name, text in entered.items() if text and text != "99"}
    assert known.items() <= as_sent([row.model_dump() for row in again.rows]).items()


def test_untouched_rows_are_no_edit_and_emptied_ones_are(annotate, sample, tools):
    entered = as_sent(_rows(sample, tools))
    pulled = annotate(("edit",), typed=entered)
    assert "nothing is edited" in parse_review(pulled, sample, tools).returned.problem
    assert entered.items() <= read_entered(pulled, sample, tools).items()
    empty = annotate(("edit",))
    assert "All fields are empty" in parse_review(empty, sample, tools).returned.problem


def test_what_was_entered_is_kept_and_anything_else_is_nothing():
    assert entered_before(write_entered({"line_0": "x"})) == {"line_0": "x"}
    for kept in ("", "[{", "[1]", '{"line_0": 1}'):
        assert entered_before(kept) == {}


# Conversations.


def test_a_conversation_has_a_row_for_what_is_new_in_each_turn_and_for_all_that_is_said(
    dialogue, tools
):
    rows = edit_rows(dialogue, tools, (), WORDS, {})
    assert [(row.heading, row.name, row.was) for row in rows if not row.words] == [
        ("User 1 · book_table", "restaurant (string)", "Blue Boat"),
        ("User 2 · book_table", "date (date)", "2026-05-03"),
        ("User 3 · book_table", "people (integer)", "3"),
        ("User 4 · book_table", "people (integer)", "4"),
        ("", "time (string)", "not given"),
        ("", "seating (string)", ""),
        ("Tool", "User 1 · book_table", ""),
        ("", "User 4 · book_table", ""),
        (WORDS.more_lines, "User 1", ""),
        ("", "User 2", ""),
        ("", "User 3", ""),
        ("", "User 4", ""),
    ]
    said = [(row.name, row.words[0].value) for row in rows if row.words]
    assert said[:4] == [
        ("User 1", "A table at Blue Boat, please."),
        ("Assistant", "For which day?"),
        ("User 2", "The day that Ann names."),
        ("✉ Mail", "Let us meet on the 3rd of May."),
    ]
    assert [row["name"] for row in _rows(dialogue, tools, language="zh")[8:10]] == [
        "用户 1",
        "助手",
    ]


def _turns(dialogue, tools, **changed):
    """The turns when these rows hold something else, by their names; `more_2` is a box for more
    lines.
    """
    rows = _rows(dialogue, tools)
    numbers = [at for at, row in enumerate(rows) if row["text"]]
    entered = as_sent(rows)
    for name, text in changed.items():
        if name.startswith("more_"):
            control = f"text_{numbers[int(name[5:]) - 1]}"
        elif name == "Tool":
            control = named(rows, "User 4 · book_table")
        else:
            label, _, which = name.partition("__")
            control = named(rows, label.replace("_", " "), int(which or 0))
        entered[control] = text
    return entered_turns(entered, dialogue, tools)


def test_a_changed_value_holds_in_the_turns_that_follow(dialogue, tools):
    turns = _turns(dialogue, tools, restaurant="Red Boat", time="20:00")
    assert [calls[0]["restaurant"] for calls in _arguments(turns)] == ["Red Boat"] * 4
    assert [calls[0].get("people") for calls in _arguments(turns)] == [None, None, 3, 4]
    assert [calls[0].get("time") for calls in _arguments(turns)] == [None, None, None, "20:00"]
    three = _turns(dialogue, tools, people="2")
    assert [calls[0].get("people") for calls in _arguments(three)] == [None, None, 2, 4]
    early = _turns(dialogue, tools, more_1="time = 20:00")
    assert [calls[0].get("time") for calls in _arguments(early)] == ["20:00"] * 4
    none = _turns(dialogue, tools, people="", people__1="")
    assert [calls[0].get("people") for calls in _arguments(none)] == [None] * 4


def test_a_turn_may_have_no_call_or_another(dialogue, tools):
    assert _arguments(_turns(dialogue, tools, Tool="0"))[-1] == []
    ends = _arguments(_turns(dialogue, tools, more_3="--"))
    assert ends[2] == []
    assert ends[3][0]["people"] == 4, "what comes after stands as it was"
    other = _turns(dialogue, tools, Tool="1", more_4="booking = B7", people__1="")
    assert _arguments(other)[-1] == [{"booking": "B7"}]
    with pytest.raises(RecordError, match=r"User 4: .*'booking' is a required property"):
        _turns(dialogue, tools, Tool="1")
    with pytest.raises(RecordError, match=r"User 4: .*'date' is a required property"):
        _turns(dialogue, tools, date="")


def test_all_that_is_said_can_be_reworded(dialogue, tools):
    turns = _turns(
        dialogue,
        tools,
        User_3="Three of us,\nall hungry.",
        Assistant="When?",
        **{"✉_Mail": "May 3."},
    )
    assert turns[6].text == "Three of us,\nall hungry."
    assert turns[2] == ReplyTurn(text="When?")
    assert turns[3].external == Message(app="Mail", text="May 3.")
    with pytest.raises(RecordError, match="User 3: This turn has no text"):
        _turns(dialogue, tools, User_3="")


def test_what_a_call_came_back_with_has_no_row_and_its_call_stays_whole(sample, tools):
    call = CallTurn(
        calls=(GoldCall(tool="cancel_table", arguments={"booking": "B1"}),), executed=True
    )
    longer = sample.with_changes(
        turns=(UserTurn(text="Cancel B1."), call, ResultTurn(results=({"done": True},)))
    )
    assert [row["name"] for row in _rows(longer, tools)] == [
        "booking (string)",
        "User 1 · cancel_table",
        "User 1",
        "User 1",
    ]
    assert _arguments(_turns(longer, tools, booking="B2")) == [[{"booking": "B2"}]]
    with pytest.raises(RecordError, match="'booking' is a required property"):
        _turns(longer, tools, booking="")


def test_a_fault_that_was_there_before_keeps_no_other_edit_back(dialogue, tools):
    faulty = GoldCall(tool="book_table", arguments={"restaurant": "Blue Boat", "seating": 7})
    sample = dialogue.with_changes(
        turns=(dialogue.turns[0], CallTurn(calls=(faulty,)), *dialogue.turns[2:])
    )
    turns = _turns(sample, tools, User_3="Three.")
    assert turns[1].calls == (faulty,)
    assert turns[6].text == "Three."


def test_an_edited_conversation_is_a_child_of_the_sample_with_its_kind_and_facts(
    annotate, dialogue, tools
):
    rows = _rows(dialogue, tools)
    typed = as_sent(rows) | {
        named(rows, "people", 1): "5",
        named(rows, "User 4"): "Sorry, there will be five of us.",
    }
    parsed = parse_review(annotate(("edit",), typed=typed, subject=dialogue.key), dialogue, tools)
    edit = parsed.edited
    assert (parsed.outcome, parsed.review.decision, parsed.review.result) == (
        "reviewed",
        "edit",
        edit.key,
    )
    kept = (dialogue.kind, dialogue.facts, dialogue.candidates)
    assert (edit.kind, edit.facts, edit.candidates) == kept
    assert edit.origin.parents == (dialogue.key,)
    assert edit.turns[:9] == dialogue.turns[:9]
    assert {item.argument: item.kind for item in edit.gold[0].evidence} == {
        "restaurant": "span",
        "date": "normalised",
        "people": "person",
    }


def test_evidence_goes_where_its_words_go_and_ends_where_they_end(annotate, dialogue, tools):
    rows = _rows(dialogue, tools)
    typed = as_sent(rows) | {
        named(rows, "✉ Mail"): "Well, let us meet on the 3rd of May.",
        named(rows, "User 1"): "A table at the Boat, please.",
    }
    edit = parse_review(
        annotate(("edit",), typed=typed, subject=dialogue.key), dialogue, tools
    ).edited
    for snapshot in list(edit.snapshots())[1:]:
        found = {item.argument: item for item in snapshot.calls[0].evidence}
        assert found["restaurant"].kind == "person"
        assert edit.turns[3].external.text[found["date"].start : found["date"].end] == "3rd of May"


def test_line_ends_and_blanks_around_words_are_no_edit(annotate, dialogue, tools):
    typed = {
        control: f"\r\n {text} \r\n" if control.startswith("words") else text
        for control, text in as_sent(_rows(dialogue, tools)).items()
    }
    parsed = parse_review(annotate(("edit",), typed=typed, subject=dialogue.key), dialogue, tools)
    assert "nothing is edited" in parsed.returned.problem


_NAMES = st.text(min_size=1, max_size=8) | st.sampled_from(["a", "a = b", '"', "]", "->", "日期"])
_SAID = st.text(max_size=30) | st.sampled_from(["+ a = 1", "x\n-> t", "x\r\ny", "\n", "\u2028"])
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | _NUMBERS
    | _SAID
    | st.sampled_from(["19", "007", "true", "null", "-", "--", "", '"', "[", "{}", "-1e5", "\t"]),
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
        text=_SAID.filter(str.strip),
        external=st.none()
        | st.builds(Message, app=_NAMES | st.just(""), text=_SAID.filter(str.strip)),
    )
    | st.builds(CallTurn, calls=_CALLS, executed=st.booleans())
    | st.builds(ResultTurn, results=st.lists(_VALUES, max_size=2).map(tuple))
    | st.builds(ReplyTurn, text=_SAID.filter(str.strip)),
    min_size=1,
    max_size=7,
)


@given(_TURNS, st.sampled_from(["en", "zh"]))
def test_whatever_conversation_has_rows_it_is_read_back_the_same(turns, language):
    sample = Sample(kind="mQmA", language="en", category="c", candidates=(), turns=tuple(turns))
    tools = [
        _tool({"a": {"type": "boolean"}}).with_changes(name=call.tool) for call in sample.all_calls
    ]
    sent = as_sent(_rows(sample, tools, language=language))
    assert entered_turns(sent, sample, tools) == sample.turns


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 30),
    typed=st.text(max_size=40)
    | st.lists(st.sampled_from(["->", "-", "--", "+", "=", "date", "t", "{", "無"])).map(" ".join),
)
def test_whatever_is_typed_is_used_or_refused(which, typed, annotate, dialogue, tools):
    sent = as_sent(_rows(dialogue, tools))
    control = sorted(sent)[which % len(sent)]
    pulled = annotate(("edit",), typed=sent | {control: typed}, subject=dialogue.key)
    parsed = parse_review(pulled, dialogue, tools)
    if parsed.outcome == "returned":
        kept = entered_before(parsed.returned.calls)
        assert kept.get(control, "") == typed.replace("\r\n", "\n")
    else:
        assert [turn.kind for turn in parsed.edited.turns] == [turn.kind for turn in dialogue.turns]


def test_a_request_in_other_words_with_other_calls_is_told_in_a_line(sample, tools):
    rows = _rows(sample, tools)
    cancel = Call(tool="cancel_table", arguments={"booking": "B7"})
    turns = entered_turns(edited(rows, "Cancel B7.", [cancel]), sample, tools)
    assert (turns[0].text, turns[1].calls[0].bare) == ("Cancel B7.", cancel)
