"""BFCL's AST check as CONFETTI needs it, and the reading of calls as Python text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.bfcl import UNREADABLE, check_calls
from callwright.validators.metrics.confetti.bfcl import (
    LONGEST,
    CallVerdict,
    DecodedCall,
    decode_calls,
)

WORDS = st.text("abC .,-'", max_size=6)
VALUES = {
    "string": WORDS,
    "integer": st.integers(-50, 50),
    "float": st.floats(-9, 9, allow_nan=False),
    "boolean": st.booleans(),
    "array": st.lists(WORDS, max_size=3),
}


def document(name: str = "f", required: tuple[str, ...] = (), **types: str) -> dict[str, Any]:
    properties = {
        parameter: {"type": kind, **({"items": {"type": "string"}} if kind == "array" else {})}
        for parameter, kind in types.items()
    }
    return {
        "name": name,
        "parameters": {"type": "dict", "properties": properties, "required": list(required)},
    }


def check(value: Any, accepted: list[Any], kind: str, items: str = "string") -> CallVerdict:
    declared = document(p=kind)
    declared["parameters"]["properties"]["p"]["items"] = {"type": items}
    return check_calls(
        [declared], [DecodedCall("f", {"p": value})], [{"f": {"p": accepted}}], "simple_python"
    )


@st.composite
def due_calls(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    types = draw(
        st.dictionaries(st.sampled_from("abc"), st.sampled_from(sorted(VALUES)), max_size=3)
    )
    values = {parameter: draw(VALUES[kind]) for parameter, kind in types.items()}
    return document(**types), values


@given(due_calls())
def test_the_accepted_call_is_right_and_any_other_set_of_parameters_is_not(
    due: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    declared, values = due
    answer = {"f": {parameter: [value] for parameter, value in values.items()}}
    assert check_calls([declared], [DecodedCall("f", values)], [answer], "simple_python").valid
    assert not check_calls(
        [declared], [DecodedCall("f", {**values, "z": 1})], [answer], "simple_python"
    ).valid
    assert not check_calls([declared], [DecodedCall("g", values)], [answer], "simple_python").valid
    for parameter, value in values.items():
        fewer = {name: given for name, given in values.items() if name != parameter}
        assert check_calls(
            [declared], [DecodedCall("f", fewer)], [answer], "simple_python"
        ).valid is (value == "")


@pytest.mark.parametrize(
    ("value", "accepted", "kind", "error"),
    [
        ("NEW york", ["new-York."], "string", ""),
        ("it's", ['It"s'], "string", ""),
        ("Oslo", ["Rome"], "string", "value_error:string"),
        ("5", [5], "integer", "type_error:simple"),
        (5.0, [5], "integer", "type_error:simple"),
        (5, [5.0], "float", ""),
        (True, [1], "integer", "type_error:simple"),
        (6, [5], "integer", "value_error:others"),
        ("it", ["it"], "integer", ""),
        (["C", "ab"], [["ab", "c"]], "array", "value_error:list/tuple"),
        (["AB", "c"], [["ab", "C"]], "array", ""),
        ([1], [["a"]], "array", "type_error:nested"),
        ({"k": "V"}, [{"k": ["v", "w"]}], "dict", ""),
        ({"k": "V", "l": 1}, [{"k": ["v"]}], "dict", "value_error:dict_key"),
        ({}, [{"k": ["v"]}], "dict", "value_error:dict_key"),
        ({}, [{"k": ["v", ""]}], "dict", ""),
        ({"k": "u"}, [{"k": ["v"]}], "dict", "value_error:dict_value"),
        ({"n": 1}, [{"n": 1}], "dict", UNREADABLE),
        (1, 5, "integer", UNREADABLE),
        (1, [1], "number", UNREADABLE),
    ],
)
def test_values_are_right_or_wrong_in_a_way_with_a_name(
    value: Any, accepted: Any, kind: str, error: str
) -> None:
    found = check(value, accepted, kind)
    assert (found.valid, found.error_type) == (not error, error)
    assert bool(found.reason) is not found.valid


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('[f(a=1, b="x"), g()]', [("f", {"a": 1, "b": "x"}), ("g", {})]),
        (
            "```f(a=-1.5, b=[1, 'x'], c={'k': None})```",
            [("f", {"a": -1.5, "b": [1, "x"], "c": {"k": None}})],
        ),
        ("Shop.Cart.add(7, item=word)", [("Shop.Cart.add", {"item": "word"})]),
        (
            "f(a=1+2*3, b='x'+'y', c=g(d=1), e=h(2), i=x[0], j=(1,))",
            [("f", {"a": 7, "b": "xy", "c": {"g": {"d": 1}}, "e": "h(2)", "i": "x[0]", "j": (1,)})],
        ),
        ("", []),
    ],
)
def test_calls_are_read_from_python_text(
    text: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    decoded = decode_calls(text)
    assert decoded.calls == [DecodedCall(*call) for call in calls]


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, I can't.",
        "[{}]",
        "I would call f(a=1)",
        "f(a=1)(b=2",
        "f(**{'a': 1})",
        "f(a=1, a=2)",
        "f(a=9**9**9)",
        "f(a=10**30*10**30)",
        "f(a=1/0)",
        "f(a='x'*10**9)",
        "f(a=lambda: 1)",
        "f(" * 5000,
        "[" * 50_000,
        "x" * (LONGEST + 1),
        "f(a={[]: 1})",
        "f(a={**b})",
        "f(a=\x00)",
    ],
)
def test_what_is_no_list_of_calls_is_told(text: str) -> None:
    decoded = decode_calls(text)
    assert decoded.calls is None
    assert decoded.problem


@given(st.text("fg()[]{}=,'\"\\ab1. +-*:`\n", max_size=50))
def test_no_text_stops_the_reading(text: str) -> None:
    for any_name in (True, False):
        decoded = decode_calls(text, any_name=any_name)
        assert (decoded.calls is None) is bool(decoded.problem)
