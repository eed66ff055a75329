"""Tools without an implementation, answered by simulation."""

import pytest

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.environments.simulated import simulated_result
from callwright.generators.tools import value_validator
from callwright.warehouse.records import Arguments, JsonSchema, Tool

TOOLS = {tool.name: tool for tool in seed_tools(["en"])}
FIND, BOOK = TOOLS["Restaurants.Search.findRestaurants"], TOOLS["Restaurants.Booking.bookTable"]
ASKED: Arguments = {"city": "Boston", "cuisine": "Indian"}
SILENT = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def test_the_same_call_is_answered_alike_and_as_the_schema_says() -> None:
    result = simulated_result(FIND, ASKED, 1)
    assert result == simulated_result(FIND, ASKED, 1)
    assert result != simulated_result(FIND, ASKED, 2)
    assert list(value_validator(FIND.returns or {}).iter_errors(result)) == []


@pytest.mark.parametrize("name", sorted(TOOLS))
async def test_every_tool_of_the_catalog_can_be_simulated(name: str) -> None:
    tool = TOOLS[name]
    assert (
        list(value_validator(tool.returns or {}).iter_errors(simulated_result(tool, {}, 1))) == []
    )


@pytest.mark.parametrize(
    ("name", "returned"), [("Shop.findShoes", "results"), ("Shop.orderShoes", "reference")]
)
@pytest.mark.parametrize("returns", [None, {"type": "object"}])
def test_a_tool_that_does_not_say_what_it_returns_is_answered_by_what_it_does(
    name: str, returned: str, returns: JsonSchema | None
) -> None:
    tool = Tool(
        name=name, description="Shoes.", parameters=SILENT, returns=returns, category="Shop"
    )
    result = simulated_result(tool, {"query": "red shoes"}, 1)
    assert isinstance(result, dict)
    assert returned in result


def test_lists_are_as_long_as_asked_for_and_hold_each_thing_once() -> None:
    result = simulated_result(FIND, ASKED, 1, entries=1)
    assert isinstance(result, dict)
    assert len(result["restaurants"]) == 1  # type: ignore[arg-type]


def test_a_limit_of_the_call_only_narrows_what_the_schema_allows() -> None:
    flights = TOOLS["Flights.Search.findFlights"]
    given: Arguments = {
        "origin": "Oslo",
        "destination": "Riga",
        "date": "2026-12-01",
        "max_price": 4999,
    }
    for seed in range(20):
        result = simulated_result(flights, given, seed)
        assert isinstance(result, dict)
        assert all(40 <= entry["price"] <= 900 for entry in result["flights"])  # type: ignore[union-attr,index,call-overload,operator]
