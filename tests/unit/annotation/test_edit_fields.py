"""A request's calls as fields: what is entered is the call that is meant, and nothing that nobody
touched changes.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.calls import is_same
from callwright.annotation.edit_fields import (
    EditFields,
    edit_fields,
    entered_before,
    entered_calls,
    read_entered,
    write_entered,
)
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.screens import words_in
from callwright.warehouse.records import Call, CallTurn, GoldCall, Reading, Sample, Tool, UserTurn
from tests.support.flows.paper_studio import control_result

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


def _as_sent(fields: EditFields) -> dict[str, str]:
    """What Label Studio sends of fields that nobody touched."""
    lists = {"field": fields.fields, "text": fields.texts}
    return {
        f"{control}_{number}": field.value
        for control, found in lists.items()
        for number, field in enumerate(found)
    }


def _labels(fields: EditFields) -> dict[str, str]:
    """Each control by the argument that its label begins with."""
    lists = {"field": fields.fields, "choice": fields.choices, "text": fields.texts}
    return {
        field.name.partition(" ")[0].partition(" ·")[0]: f"{control}_{number}"
        for control, found in lists.items()
        for number, field in enumerate(found)
    }


@given(
    st.lists(_SCHEMAS, max_size=4).flatmap(
        lambda some: st.tuples(st.just(some), st.tuples(*(v for _, v in some)))
    )
)
def test_fields_that_nobody_touched_give_the_call_back(drawn):
    schemas, values = drawn
    tool = _tool({f"p{at}": schema for at, (schema, _) in enumerate(schemas)})
    sample = _sample(tool, {f"p{at}": value for at, value in enumerate(values)})
    entered = _as_sent(edit_fields(sample, [tool], (), WORDS, {}))
    [call] = entered_calls(entered, sample, [tool])
    assert is_same(call.arguments, sample.gold[0].arguments)


@given(_SCHEMAS.flatmap(lambda one: st.tuples(st.just(one[0]), one[1], one[1])))
def test_what_is_entered_in_a_field_is_the_value_that_is_meant(drawn):
    schema, old, new = drawn
    tool = _tool({"p": schema})
    sample, meant = _sample(tool, {"p": old}), _sample(tool, {"p": new})
    before = edit_fields(sample, [tool], (), WORDS, {})
    control = _labels(before)["p"]
    if control.startswith("choice"):
        options = schema.get("enum", [True, False])
        places = [at for at, one in enumerate(options, 1) if is_same(one, new)]
        entered = _as_sent(before) | {control: str(places[0])}
    else:
        after = _as_sent(edit_fields(meant, [tool], (), WORDS, {}))
        entered = _as_sent(before) | {control: after[control]}
    [call] = entered_calls(entered, sample, [tool])
    assert is_same(call.arguments, {"p": new})


def test_the_fields_are_the_tools_and_say_the_gold_and_what_a_reader_wrote(sample, tools):
    written = Call(tool="book_table", arguments={"restaurant": "Verde", "date": "2026-05-03"})
    reading = Reading(turn=1, calls=(written,), votes=("written",))
    fields = edit_fields(sample, tools, [reading], WORDS, {})
    labels = [field.name for field in (*fields.fields, *fields.choices)]
    assert "restaurant (string) · Trattoria Verde · ⟦Reader: Verde⟧" in labels
    assert "date (date) · 2026-05-03" in labels
    [seating] = [one for one in fields.choices if one.name.startswith("seating")]
    assert [option.value for option in seating.values][:3] == ["inside", "outside", "bar"]
    assert not any("*" in label for label in labels)


def test_an_argument_is_changed_added_and_taken_away(sample, tools):
    fields = edit_fields(sample, tools, (), WORDS, {})
    at = _labels(fields)
    entered = _as_sent(fields) | {at["people"]: "4", at["seating"]: "3", at["date"]: "2026-05-04"}
    [call] = entered_calls(entered, sample, tools)
    changed = {"date": "2026-05-04", "people": 4, "seating": "bar"}
    assert call.arguments == sample.gold[0].arguments | changed
    for nothing in ("", " - "):
        entered[at["restaurant"]] = nothing
        [call] = entered_calls(entered, sample, tools)
        assert "restaurant" not in call.arguments
    entered[at["restaurant"]] = '"-"'
    [call] = entered_calls(entered, sample, tools)
    assert call.arguments["restaurant"] == "-"


def test_another_tool_is_chosen_with_its_arguments_as_lines(sample, tools):
    fields = edit_fields(sample, tools, (), WORDS, {})
    at = _labels(fields)
    tool = next(one for one in tools if one.name == "cancel_table")
    option = next(one.alias for one in fields.choices[-1].values if one.value == "cancel_table")
    more = {at["More:"]: "booking = B7"}
    entered = _as_sent(fields) | {at["Tool"]: option} | more
    assert entered_calls(entered, sample, tools) == [
        GoldCall(tool=tool.name, arguments={"booking": "B7"})
    ]
    none = _as_sent(fields) | {at["Tool"]: "0"}
    assert entered_calls(none, sample, tools) == []
    two = entered_calls(none | {at["More:"]: "-> cancel_table\n+ booking = B7"}, sample, tools)
    assert [call.tool for call in two] == ["cancel_table"]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"Tool": "99"}, "'99' was not offered"),
        ({"Tool": "0", "More:": "booking = B7"}, "belongs to no call"),
        ({"More:": "what?"}, "is no `name = value`"),
        ({"More:": "-> fly"}, "is not an offered tool"),
        ({"people": "[1"}, "people: "),
        ({"people": "many"}, "'many' is not of type 'integer'"),
    ],
)
def test_what_cannot_be_read_comes_back_as_it_was_entered(
    changed, problem, annotate, sample, tools
):
    fields = edit_fields(sample, tools, (), WORDS, {})
    at = _labels(fields)
    entered = _as_sent(fields) | {at[name]: text for name, text in changed.items()}
    pulled = _annotation(annotate, entered)
    parsed = parse_review(pulled, sample, tools)
    assert parsed.outcome == "returned"
    assert problem in parsed.returned.problem
    again = review_task(sample, tools, [], reason="-", returned=parsed.returned)
    assert [one.value for one in (*again.fields, *again.texts)] == [
        entered[control]
        for kind in ("field", "text")
        for control in entered
        if control.startswith(kind)
    ]


def _annotation(annotate, entered):
    made = annotate(("edit",), request=None)
    sent = [
        control_result(control, [text])
        if control.startswith(("field", "text"))
        else control_result(control, [text]) | {"type": "choices", "value": {"choices": [text]}}
        for control, text in entered.items()
        if text
    ]
    return made.with_changes(result=(*made.result, *sent))


def test_untouched_fields_and_words_are_no_edit_and_emptied_ones_are(annotate, sample, tools):
    entered = _as_sent(edit_fields(sample, tools, (), WORDS, {}))
    pulled = _annotation(annotate, entered)
    assert "nothing is edited" in parse_review(pulled, sample, tools).returned.problem
    assert read_entered(pulled, sample, tools) == entered
    empty = annotate(("edit",), request=sample.request)
    assert "fields of the calls are empty" in parse_review(empty, sample, tools).returned.problem


def test_what_was_entered_is_kept_and_anything_else_is_nothing():
    assert entered_before(write_entered({"field_0": "x"})) == {"field_0": "x"}
    for kept in ("", "[{", "[1]", '{"field_0": 1}'):
        assert entered_before(kept) == {}


def test_a_conversation_has_lines_and_no_fields(dialogue, tools):
    assert edit_fields(dialogue, tools, (), WORDS, {}) == EditFields()
