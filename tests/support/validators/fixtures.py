"""Tools and samples that the tests of the checks share."""

import pytest

from callwright.warehouse.records import CallTurn, Evidence, GoldCall, Origin, Sample, Tool, UserTurn

TIME = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}


@pytest.fixture
def table() -> Tool:
    return Tool(
        name="book_table",
        description="Reserve a table at a restaurant.",
        category="Food",
        parameters={
            "type": "object",
            "properties": {
                "restaurant": {"type": "string"},
                "party_size": {"type": "integer", "minimum": 1},
                "time": TIME,
                "seatingArea": {"type": "string", "enum": ["inside", "terrace"]},
            },
            "required": ["restaurant", "party_size"],
        },
    )


@pytest.fixture
def taxi() -> Tool:
    return Tool(
        name="order_taxi",
        description="Send a car to an address.",
        category="Travel",
        parameters={
            "type": "object",
            "properties": {"address": {"type": "string"}, "time": TIME},
            "required": ["address"],
        },
    )


@pytest.fixture
def weather() -> Tool:
    return Tool(
        name="get_forecast",
        description="Tell the weather of the days to come.",
        category="Weather",
        parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    )


@pytest.fixture
def tools(table: Tool, taxi: Tool, weather: Tool) -> dict[str, Tool]:
    return {tool.key: tool for tool in (table, taxi, weather)}


@pytest.fixture
def perfect(table: Tool, taxi: Tool) -> Sample:
    text = "Book a table for 4 at Lindenhof at 19:30."
    spans = {"restaurant": "Lindenhof", "party_size": "4", "time": "19:30"}
    evidence = tuple(
        Evidence(
            argument=name,
            kind="span",
            turn=0,
            start=text.index(quote),
            end=text.index(quote) + len(quote),
            quote=quote,
        )
        for name, quote in spans.items()
    )
    due = GoldCall(
        tool="book_table",
        arguments={"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"},
        evidence=evidence,
    )
    return Sample(
        kind="perfect",
        language="en",
        category="Food",
        candidates=(table.key, taxi.key),
        turns=(UserTurn(text=text), CallTurn(calls=(due,))),
        origin=Origin(stage="requests", model="template/v1"),
    )


@pytest.fixture
def irrelevant(taxi: Tool, weather: Tool, table: Tool) -> Sample:
    return Sample(
        kind="irrelevant",
        language="en",
        category="Food",
        candidates=(taxi.key, weather.key),
        withheld=(table.key,),
        turns=(UserTurn(text="Book a table for 4 at Lindenhof."), CallTurn()),
    )
