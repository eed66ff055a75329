"""Tools and calls on the wire."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.wire_format import WireCall, as_text, read_calls, wire_tools
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.wire_names import NO_NAMES, wire_names


def _tool(name):
    return Tool(
        name=name, description="Plan.", parameters={"required": ["city"]}, category="travel"
    )


@given(st.lists(st.text(min_size=1, max_size=80), max_size=8, unique=True))
def test_names_on_the_wire_are_allowed_and_lead_back(names):
    tools = [_tool(name) for name in names]
    wired = wire_names(tools)

    wires = [wired.tool(name) for name in names]
    assert [wired.own_tool(wire) for wire in wires] == names
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", wire) for wire in wires)
    assert [tool["function"]["name"] for tool in wire_tools(tools, wired)] == wires


def test_parameters_are_always_an_object():
    told = wire_tools([_tool("trip")], NO_NAMES)[0]["function"]["parameters"]
    assert told == {"type": "object", "properties": {}, "required": ["city"]}


@pytest.mark.parametrize(
    "arguments", ['{"city": ', "[1]", "null", "{'city': Lyon}", '{"n": NaN}', '{"a": 1, "a": 2}']
)
def test_arguments_that_are_no_object_are_not_guessed(arguments):
    written = [WireCall("trip", "{}"), WireCall("trip", arguments)]

    assert read_calls(written) is None
    assert as_text(written) == f"trip({{}})\ntrip({arguments})"


@pytest.mark.parametrize(
    "arguments", ["{'city': 'Lyon', 'now': True}", '{"city": "Lyon", "now": true,}']
)
def test_arguments_in_pythons_notation_say_the_same(arguments):
    calls = read_calls([WireCall("trip", arguments)])
    assert calls == (Call(tool="trip", arguments={"city": "Lyon", "now": True}),)
