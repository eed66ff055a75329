"""What goes wrong in planning costs one sample, one tool or one kind, and is told with its
reason.
"""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from pydantic import JsonValue

from callwright.flows.planning.demands import refusal, shares, validate_it_can_be_planned
from callwright.flows.planning.planner import sentence_of, told_of_left_out
from callwright.flows.recipe import parse_recipe
from callwright.generators.families import LeftOut, Order, plan_each, usable_tools
from callwright.generators.kinds import all_kinds
from callwright.generators.parallel.making import plan_parallel, tool_obstacle
from callwright.generators.routing.making import plan_routing
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import fits
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import RoutingPlan, Tool

NAMES = ("addRoom", "moveDesk", "paintWall", "callGuard", "sweepHall")
TEXT: dict[str, JsonValue] = {"type": "string", "description": "The note."}
NEVER: dict[str, JsonValue] = {"type": "string", "minLength": 9000}  # nobody writes such a text


def tool(name: str, **properties: JsonValue) -> Tool:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": properties,
        "required": [*properties],
    }
    return Tool(
        name=name,
        description=f"{name} of the house.",
        category="House",
        parameters=schema,
        source="openapi",
    )


def order(
    kind: str, samples: int, tools: list[Tool], heard: Callable[[LeftOut], None], place: str = ""
) -> Order:
    return Order(all_kinds()[kind], "en", place, samples, tools, seed=3, leave_out=heard)


@pytest.mark.parametrize(
    ("kind", "plan"), [("parallel", plan_parallel), ("routing_easy", plan_routing)]
)
def test_a_tool_whose_value_nobody_can_make_up_costs_that_tool(
    kind: str, plan: Callable[[Order], Iterator[RoutingPlan]]
) -> None:
    heard: list[LeftOut] = []
    tools = [*(tool(name, note=TEXT) for name in NAMES), tool("fillForm", remarks=NEVER)]
    found = list(plan(order(kind, 30, tools, heard.append, "House")))
    assert len(found) == 30
    assert {one.tool for one in heard} == {"fillForm"}
    assert "9000 characters" in heard[0].reason
    assert "fillForm" not in {call.tool for one in found for call in one.calls}


def test_a_bug_costs_one_sample_and_stands_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[LeftOut] = []
    plans = list(
        plan_parallel(order("parallel", 3, [tool(name, note=TEXT) for name in NAMES], heard.append))
    )

    def make(number: int) -> RoutingPlan:
        if number == 1:
            raise IndexError("string index out of range")
        return plans[number % 3]

    asked = order("parallel", 3, [], heard.append)
    with caplog.at_level(logging.ERROR):
        assert len(list(plan_each(asked, lambda number: NAMES[number], make))) == 3
    told = LeftOut(
        "parallel",
        "A bug, to be reported: IndexError: string index out of range",
        "en",
        tool="moveDesk",
    )
    assert heard == [told]
    assert sum(record.exc_info is not None for record in caplog.records) == 1


def test_what_can_never_be_planned_is_not_tried_for_ever() -> None:
    heard: list[LeftOut] = []

    def make(_number: int) -> RoutingPlan:
        raise ReplyError("No value.")

    assert list(plan_each(order("parallel", 3, [], heard.append), str, make)) == []
    assert len(heard) < 30


def test_a_tool_is_left_out_for_a_reason_that_says_what_is_the_matter() -> None:
    heard: list[LeftOut] = []
    tools = [
        tool("rest"),
        tool("move", a=TEXT, b=TEXT, c=TEXT, d=TEXT),
        tool("paint", how={"type": "object"}),
    ]
    assert usable_tools(order("parallel", 1, tools, heard.append), tools, tool_obstacle) == []
    assert ["requires nothing" in one.reason for one in heard] == [True, False, False]
    assert "more than 3 parameters" in heard[1].reason
    assert "an object, a list" in heard[2].reason


RECIPE = {"name": "apart", "tools": [{"seed": "all"}], "languages": ["en"]}


def test_an_impossible_kind_costs_that_kind() -> None:
    recipe = parse_recipe(
        RECIPE | {"samples": {"perfect": 2, "routing_hard": 5, "multi_step": 4}}, Path(), "x"
    )
    tools = [tool(name, note=TEXT) for name in NAMES]
    heard: list[LeftOut] = []
    demands = list(shares(recipe, tools, heard.append))
    assert [one.kind.name for one in demands] == ["perfect"]
    assert refusal(recipe, demands[0], tools) is None
    assert [(one.kind, one.samples) for one in heard] == [("routing_hard", 5), ("multi_step", 4)]
    assert "In no category does a tool take what another one returns" in sentence_of(heard[0])
    validate_it_can_be_planned(recipe, tools)


def test_many_places_of_a_kind_are_one_sentence() -> None:
    found = [
        LeftOut("conversation", f"No {place}.", "en", place, samples=2) for place in ("a", "b", "c")
    ]
    assert [*told_of_left_out(found)] == [
        "conversation (en, 3 places: a, b, c): 6 samples can't be planned. No a."
    ]
    assert len([*told_of_left_out(found[:2])]) == 2


def test_a_recipe_of_which_nothing_can_be_planned_is_refused() -> None:
    recipe = parse_recipe(RECIPE | {"samples": {"routing_hard": 5, "multi_step": 4}}, Path(), "x")
    with pytest.raises(ConfigurationError, match="In no category"):
        validate_it_can_be_planned(recipe, [tool(name, note=TEXT) for name in NAMES])


def test_an_object_with_entries_of_a_type_gets_one_of_them() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}}
    value = make_value("member_counts", schema, "en", Random(1))
    assert value
    assert fits(value, schema)
