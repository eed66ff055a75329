"""Tools and samples that the tests of the checks share."""

import pytest

from callwright.testing import make_sample, make_tool
from callwright.warehouse.records import Origin, Sample, Tool

TIME = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}


@pytest.fixture
def table() -> Tool:
    return make_tool(
        "book_table",
        "Reserve a table at a restaurant.",
        category="Food",
        required=("restaurant", "party_size"),
        restaurant="string",
        party_size={"type": "integer", "minimum": 1},
        time=TIME,
        seatingArea={"enum": ["inside", "terrace"]},
    )


@pytest.fixture
def taxi() -> Tool:
    return make_tool(
        "order_taxi",
        "Send a car to an address.",
        category="Travel",
        required=("address",),
        address="string",
        time=TIME,
    )


@pytest.fixture
def weather() -> Tool:
    return make_tool(
        "get_forecast",
        "Tell the weather of the days to come.",
        category="Weather",
        required=("city",),
        city="string",
    )


@pytest.fixture
def tools(table: Tool, taxi: Tool, weather: Tool) -> dict[str, Tool]:
    return {tool.key: tool for tool in (table, taxi, weather)}


@pytest.fixture
def perfect(table: Tool, taxi: Tool) -> Sample:
    due = {"book_table": {"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"}}
    sample = make_sample([table, taxi], "Book a table for 4 at Lindenhof at 19:30.", due)
    return sample.with_changes(origin=Origin(stage="requests", model="template/v1"))


@pytest.fixture
def irrelevant(taxi: Tool, weather: Tool, table: Tool) -> Sample:
    text = "Book a table for 4 at Lindenhof."
    return make_sample([taxi, weather], text, kind="irrelevant", withheld=[table]).with_changes(
        category="Food"
    )
