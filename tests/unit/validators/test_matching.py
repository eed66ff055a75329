"""Comparing values and calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.matching import compare_calls, is_same_value, rouge_l
from callwright.warehouse.records import Call

TIME = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
DATE = {"type": "string", "format": "date"}
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-99, 99), st.text(max_size=6), st.floats(-9, 9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(st.text(min_size=1, max_size=5), VALUES, max_size=4)


@given(value=VALUES)
def test_a_value_is_the_same_as_itself(value) -> None:
    assert is_same_value(value, value, {})


@pytest.mark.parametrize(
    ("expected", "given_value", "schema"),
    [
        (3, 3.0, {"type": "integer"}),
        (3, "3", {}),
        (3, "three", {"type": "integer"}),
        ("19:30", "half past seven in the evening", TIME),
        ("2026-05-01", "May 1, 2026", DATE),
        ("Round Trip", "round_trip", {"type": "string"}),
        (True, "true", {}),
        (["Oslo", "Bergen"], ["oslo", "bergen"], {"type": "array", "items": {"type": "string"}}),
        ({"time": "08:00"}, {"time": "8 am"}, {"type": "object", "properties": {"time": TIME}}),
    ],
)
def test_two_notations_of_one_value_are_the_same(expected, given_value, schema) -> None:
    assert is_same_value(expected, given_value, schema)
    assert is_same_value(given_value, expected, schema)


@pytest.mark.parametrize(
    ("expected", "given_value", "schema"),
    [
        (True, 1, {}),
        (0, False, {}),
        (3, 4, {"type": "integer"}),
        (3, "four", {"type": "integer"}),
        ("19:30", "07:30", TIME),
        ("2026-05-01", "2026-01-05", DATE),
        ("Oslo", "Bergen", {"type": "string"}),
        (["Oslo"], ["Oslo", "Bergen"], {}),
        ({"a": 1}, {"b": 1}, {}),
        (None, "None", {}),
    ],
)
def test_two_values_are_not_the_same(expected, given_value, schema) -> None:
    assert not is_same_value(expected, given_value, schema)
    assert not is_same_value(given_value, expected, schema)


@given(one=st.text(max_size=12), other=st.text(max_size=12))
def test_rouge_is_symmetric_and_whole_for_equal_texts(one: str, other: str) -> None:
    assert rouge_l(one, one) == 1.0
    assert rouge_l(one, other) == pytest.approx(rouge_l(other, one))


@pytest.mark.parametrize(
    ("reference", "hypothesis", "score"),
    [
        ("a double room", "double room", 0.8),
        ("广州市内", "广州市区", 0.75),
        ("Café", "cafe", 1.0),
        ("粤B67890", "粤b67890", 1.0),
        ("Oslo", "", 0.0),
    ],
)
def test_rouge_reads_both_languages(reference: str, hypothesis: str, score: float) -> None:
    assert rouge_l(reference, hypothesis) == pytest.approx(score)


@given(arguments=ARGUMENTS)
def test_a_call_does_not_differ_from_itself_in_any_order(arguments: dict) -> None:
    call, backwards = (
        Call(tool="f", arguments=arguments),
        Call(tool="f", arguments=dict(reversed(arguments.items()))),
    )
    difference = compare_calls(call, backwards, {})
    assert difference.is_same
    assert difference.score == 1.0
    assert difference.sentence() == ""


def test_what_differs_is_named() -> None:
    gold = Call(
        tool="book_table", arguments={"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"}
    )
    made = Call(
        tool="book_table",
        arguments={"restaurant": "Zum Adler", "time": "7:30 pm", "note": "window"},
    )
    difference = compare_calls(gold, made, {"time": TIME})
    assert difference.missing == ("party_size",)
    assert difference.hallucinated == ("note",)
    assert [wrong.argument for wrong in difference.wrong] == ["restaurant"]
    assert difference.score == 0.25
    assert (
        difference.sentence()
        == "leaves out 'party_size', adds 'note', gives 'restaurant' as 'Zum Adler', not"
        " 'Lindenhof' (Rouge-L 0.00)"
    )


def test_another_tool_or_none_differs_in_nothing_else() -> None:
    gold = Call(tool="book_table", arguments={"party_size": 4})
    assert compare_calls(gold, None, {}).sentence() == "calls no tool where 'book_table' is due"
    assert compare_calls(None, gold, {}).sentence() == "calls 'book_table' where no tool is due"
    assert compare_calls(None, None, {}).is_same
    assert compare_calls(gold, Call(tool="order_taxi"), {}).score == 0.0


def test_the_threshold_decides_how_alike_words_must_be() -> None:
    gold, made = (
        Call(tool="f", arguments={"note": note}) for note in ("water the plants", "water plants")
    )
    assert compare_calls(gold, made, {}).is_same
    assert not compare_calls(gold, made, {}, threshold=0.9).is_same
