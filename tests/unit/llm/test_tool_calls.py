"""Tools and calls on the wire."""

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.wire_format import WrittenCall, as_text, read_calls, wire_names, wire_tools
from callwright.warehouse.records import Call, Tool


def _tool(name):
    return Tool(
        name=name, description="Plan.", parameters={"required": ["city"]}, category="travel"
    )


@given(st.lists(st.text(min_size=1, max_size=80), max_size=8, unique=True))
def test_names_on_the_wire_are_allowed_and_lead_back(names):
    tools = [_tool(name) for name in names]
    wired = wire_names(tools)

    assert list(wired.values()) == names
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", wire) for wire in wired)
    assert [tool["function"]["name"] for tool in wire_tools(tools, wired)] == list(wired)


def test_a_name_that_may_stay_does():
    assert wire_names([_tool("查询.x"), _tool("___x"), _tool("a b"), _tool("a_b")]) == {
        "___x_2": "查询.x",
        "___x": "___x",
        "a_b_2": "a b",
        "a_b": "a_b",
    }


def test_parameters_are_always_an_object():
    told = wire_tools([_tool("trip")], {"trip": "trip"})[0]["function"]["parameters"]
    assert told == {"type": "object", "properties": {}, "required": ["city"]}


@given(st.dictionaries(st.text(), st.integers(-(2**53), 2**53) | st.text() | st.none()))
def test_calls_are_read_back(arguments):
    written = [WrittenCall("trip_plan", orjson.dumps(arguments).decode())]
    assert read_calls(written) == (Call(tool="trip_plan", arguments=arguments),)


def test_a_name_stays_as_it_was_written():
    assert read_calls([WrittenCall("fly", "")]) == (Call(tool="fly"),)


@pytest.mark.parametrize(
    "arguments", ['{"city": ', "[1]", "null", "{'city': Lyon}", '{"n": NaN}', '{"a": 1, "a": 2}']
)
def test_arguments_that_are_no_object_are_not_guessed(arguments):
    written = [WrittenCall("trip", "{}"), WrittenCall("trip", arguments)]

    assert read_calls(written) is None
    assert as_text(written) == f"trip({{}})\ntrip({arguments})"


@pytest.mark.parametrize(
    "arguments", ["{'city': 'Lyon', 'now': True}", '{"city": "Lyon", "now": true,}']
)
def test_arguments_in_pythons_notation_say_the_same(arguments):
    calls = read_calls([WrittenCall("trip", arguments)])
    assert calls == (Call(tool="trip", arguments={"city": "Lyon", "now": True}),)


def test_no_calls_are_none():
    assert read_calls([]) is None
