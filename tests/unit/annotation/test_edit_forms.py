"""A sample as a form: what is entered is the call that is meant, and nothing that nobody touched
changes.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.calls import is_same
from callwright.annotation.edit_forms import EditForm, edit_form, parse_form
from callwright.annotation.screens import words_in
from callwright.warehouse.records import CallTurn, GoldCall, Sample, Tool, UserTurn

WORDS = words_in("en")
_TEXTS = st.text(max_size=20).filter(lambda text: "\r" not in text)
_WHOLE = st.integers(-(2**63), 2**63 - 1)
_NUMBERS = _WHOLE | st.floats(allow_nan=False, allow_infinity=False)
_DAYS = st.dates().map(str)
# A schema, and the values that fit it.
_SCHEMAS = st.sampled_from(
    [
        ({"type": "string"}, _TEXTS),
        ({"type": "string", "format": "date"}, _DAYS),
        ({"type": "integer"}, _WHOLE),
        ({"type": "number"}, _NUMBERS),
        ({"type": "boolean"}, st.booleans()),
        (
            {"enum": ["inside", "19", 19, "", "true", True]},
            st.sampled_from(["inside", "19", 19, "", "true", True]),
        ),
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


def _sample(tool: Tool, arguments: dict | None = None) -> Sample:
    calls = () if arguments is None else (GoldCall(tool=tool.name, arguments=arguments),)
    turns = (UserTurn(text="Set it."), CallTurn(calls=calls))
    return Sample(kind="perfect", language="en", category="-", candidates=(tool.key,), turns=turns)


def _as_sent(form: EditForm) -> dict[str, str]:
    """What a browser sends of a form that nobody touched: each field, its lines ended in its own
    way.
    """
    sent: dict[str, str] = {}
    for turn in form.turns:
        texts = {"text": turn.text, "message": turn.message}
        sent |= {f"{turn.name}.{name}": text for name, text in texts.items() if text is not None}
        for call in turn.calls:
            sent[call.name] = call.tool
            sent |= {field.name: field.entered for field in call.fields}
    return {name: text.replace("\n", "\r\n") for name, text in sent.items()}


def _calls(form: EditForm) -> list:
    assert form.problems == ()
    return json.loads(form.boxes.calls)


@given(
    st.lists(_SCHEMAS, max_size=4).flatmap(
        lambda some: st.tuples(st.just(some), st.tuples(*(v for _, v in some)))
    )
)
def test_the_fields_of_a_call_give_the_call_back(drawn):
    schemas, values = drawn
    tool = _tool({f"p{at}": schema for at, (schema, _) in enumerate(schemas)})
    arguments = {f"p{at}": value for at, value in enumerate(values)}
    filled = edit_form(_sample(tool, arguments), [tool], WORDS, {})
    entered = _as_sent(filled)
    for sample in (_sample(tool, arguments), _sample(tool)):  # as it was, and entered anew
        [call] = _calls(edit_form(sample, [tool], WORDS, entered))
        assert is_same(call["arguments"], arguments)


def test_the_kinds_of_fields_are_those_of_the_schema(sample, tools):
    call = edit_form(sample, tools, WORDS, {}).turns[1].calls[0]
    kinds = {field.argument: (field.kind, field.required) for field in call.fields}
    assert kinds == {
        "restaurant": ("text", True),
        "date": ("date", True),
        "time": ("text", False),
        "people": ("integer", False),
        "seating": ("choice", False),
    }
    assert call.fields[-1].choices == ("inside", "outside", "bar")


def test_nothing_is_required_of_a_sample_that_leaves_details_out_on_purpose(sample, tools):
    partial = sample.with_changes(kind="imperfect")
    call = edit_form(partial, tools, WORDS, {}).turns[1].calls[0]
    assert not any(field.required for field in call.fields)


def test_an_edit_by_form_is_read_as_every_edit(sample, tools):
    entered = {"t0.text": "Four at Blue Boat, please.", "t1.c0.seating": "bar", "t1.c0.people": ""}
    parsed = parse_form(edit_form(sample, tools, WORDS, entered), sample, tools)
    assert parsed.review.decision == "edit"
    arguments = {**sample.gold[0].arguments, "seating": "bar"}
    del arguments["people"]
    assert parsed.edited.gold[0].arguments == arguments
    assert parsed.edited.request == "Four at Blue Boat, please."


def test_later_snapshots_follow_a_change_but_those_that_were_changed_too(dialogue, tools):
    first, *_, last = [index for index, turn in enumerate(dialogue.turns) if turn.kind == "calls"]
    entered = {f"t{first}.c0.restaurant": "Red Boat", f"t{last}.c0.people": "6"}
    form = edit_form(dialogue, tools, WORDS, entered)
    parsed = parse_form(form, dialogue, tools)
    assert parsed.returned is None
    snapshots = [calls[0].arguments for _, _, calls in parsed.edited.snapshots()]
    assert [one["restaurant"] for one in snapshots[:-1]] == ["Red Boat"] * (len(snapshots) - 1)
    assert snapshots[-1]["people"] == 6


def test_a_call_is_taken_away_added_and_given_another_tool(sample, tools):
    none = edit_form(sample, tools, WORDS, {"t1.c0": ""})
    assert _calls(none) == []
    assert [call.tool for call in none.turns[1].calls] == [""]
    entered = {
        "t1.c0": tools[1].name,
        "t1.c1": sample.gold[0].tool,
        "t1.c1.restaurant": "Blue Boat",
    }
    both = edit_form(sample, tools, WORDS, entered)
    assert [call["tool"] for call in _calls(both)] == [tools[1].name, sample.gold[0].tool]
    assert _calls(both)[1]["arguments"] == {"restaurant": "Blue Boat"}
    assert [call.tool for call in both.turns[1].calls][-1] == ""


@pytest.mark.parametrize(
    ("entered", "told"),
    [
        ({"t0.text": "  "}, "This turn has no text."),
        ({"t1.c0": "fly"}, '"fly" is not an offered tool'),
        ({"t1.c0.restaurant": '"Blue'}, "restaurant: The value"),
    ],
)
def test_what_cannot_be_read_is_said_of_its_turn(entered, told, sample, tools):
    [problem] = edit_form(sample, tools, WORDS, entered).problems
    assert problem.sentence.startswith(told)
    assert problem.turn == next(iter(entered)).partition(".")[0]


def test_what_does_not_fit_its_field_is_shown_and_refused_as_a_pull_would(sample, tools):
    form = edit_form(sample, tools, WORDS, {"t1.c0.people": "a few"})
    field = next(one for one in form.turns[1].calls[0].fields if one.argument == "people")
    assert (field.kind, field.entered) == ("text", "a few")
    parsed = parse_form(form, sample, tools)
    assert parsed.returned.problem == "book_table, people: 'a few' is not of type 'integer'."
