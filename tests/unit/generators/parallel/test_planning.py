"""Several calls planned at once: each with values of its own, none of tools that do the same,
alike for any count.
"""

from random import Random

import pytest
from pydantic import JsonValue

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.families import LeftOut, Order
from callwright.generators.kinds import all_kinds
from callwright.generators.parallel import PARALLEL
from callwright.generators.parallel.making import (
    ParallelWording,
    plan_parallel,
    stated_values,
    wording_problem,
    write_parallel,
)
from callwright.generators.stages import StageContext
from callwright.generators.stated_values import CallMention, QuotedValues
from callwright.generators.tools import are_redundant
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import PlannedCall, RoutingPlan, StatedValue, Tool

TOOLS = tuple(seed_tools())


def order(samples: int, tools: tuple[Tool, ...] = TOOLS) -> Order:
    return Order(all_kinds()[PARALLEL], "en", "", samples, tools, seed=3)


def test_the_nth_plan_does_not_depend_on_how_many_are_asked_for() -> None:
    assert list(plan_parallel(order(30)))[:10] == list(plan_parallel(order(10)))


def test_one_tool_stands_alone_and_several_never_do_the_same() -> None:
    by_key = {tool.key: tool for tool in TOOLS}
    for plan in plan_parallel(order(80)):
        names = [call.tool for call in plan.calls]
        assert 2 <= len(names) <= 4
        shown = [by_key[key] for key in plan.candidates]
        due = [tool for tool in shown if tool.name in names]
        if len(due) == 1:
            assert shown == due
        else:
            assert len(due) == len(names)
            assert not any(
                are_redundant(one, other) for one in due for other in due if one is not other
            )


def test_calls_of_one_tool_have_no_value_in_common() -> None:
    for plan in plan_parallel(order(80)):
        if len({call.tool for call in plan.calls}) == 1:
            for name in plan.calls[0].arguments:
                values = [call.arguments[name].model_dump_json() for call in plan.calls]
                assert len(set(values)) == len(values)


def test_a_catalog_without_two_such_tools_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="need two at least"):
        list(plan_parallel(order(1, TOOLS[:1])))


def test_a_tool_beside_which_none_may_stand_is_called_again_or_left_out() -> None:
    """Deleting a sheet stands beside no call about sheets: of it alone there are two calls."""

    def sheets(**more: object) -> tuple[Tool, ...]:
        properties: dict[str, JsonValue] = {"sheet": {"type": "string", **more}}
        return tuple(
            Tool(
                name=f"{deed}_sheet",
                description=f"{does} a sheet.",
                category="Sheets",
                parameters={"properties": properties, "required": ["sheet"]},
            )
            for deed, does in (("delete", "Remove"), ("copy", "Duplicate the cells of"))
        )

    plans = list(plan_parallel(order(20, sheets())))
    assert len(plans) == 20
    assert all(len({call.tool for call in plan.calls}) == 1 for plan in plans)
    assert all(len(plan.calls) >= 2 for plan in plans)
    left_out: list[LeftOut] = []
    only = order(4, sheets(enum=["first"]))._replace(leave_out=left_out.append)
    assert not list(plan_parallel(only))
    assert "don't allow a second call" in left_out[0].reason


RIDE = Tool(
    name="order_ride",
    description="Order a ride.",
    category="Rides",
    parameters={
        "properties": {"destination": {"type": "string"}, "passengers": {"type": "integer"}}
    },
)
RIDES = (
    {"destination": "Central Station", "passengers": 3},
    {"destination": "the old mill", "passengers": 4},
)
DUE = {
    (at, name): (value, RIDE.properties[name])
    for at, ride in enumerate(RIDES)
    for name, value in ride.items()
}
TEXT = (
    "A ride for three to Central Station, please. And a second one to the old mill, for my parents"
    " and the two of us."
)
FIRST, SECOND = "A ride for three to Central Station, please.", "And a second one to the old mill"


@pytest.mark.parametrize(
    "parts",
    [
        [FIRST, SECOND],
        ["a ride for three to central station", "a second one"],
        [SECOND, FIRST],
        [TEXT],
        [],
    ],
)
def test_parts_that_are_mangled_short_or_lacking_are_no_reason_to_ask_again(
    parts: list[str],
) -> None:
    quotes = {(1, "passengers"): "my parents and the two of us"}
    wording = ParallelWording(request=TEXT, parts=parts)
    assert wording_problem(wording, DUE, "en", quotes) == ""
    places = {spot: one.place for spot, one in stated_values(wording, DUE, "en", quotes).items()}
    quoted = {spot: TEXT[place.start : place.end] for spot, place in places.items() if place}
    assert quoted == {
        (0, "destination"): "Central Station",
        (0, "passengers"): "three",
        (1, "destination"): "the old mill",
        (1, "passengers"): "my parents and the two of us",
    }


async def test_words_for_what_no_rule_reads_are_asked_for_before_the_whole_is_asked_again() -> None:
    calls = tuple(
        PlannedCall(
            tool=RIDE.name,
            arguments={
                name: StatedValue(value=one, element="text") for name, one in values.items()
            },
        )
        for values in RIDES
    )
    plan = RoutingPlan(
        kind=PARALLEL, language="en", domain="Rides", calls=calls, candidates=(RIDE.key,), seed=1
    )
    quote = CallMention(call=1, parameter="passengers", words="My parents and the two of us.")
    script = {
        "write_parallel": [ParallelWording(request=TEXT, parts=[])],
        "quote_values": [QuotedValues(quotes=[quote])],
    }
    chat = ScriptedModel(script)
    [sample] = await write_parallel(plan, StageContext(chat, Random(1), {RIDE.key: RIDE}))
    assert sample.request == TEXT
    assert [call.arguments for call in sample.gold] == [*RIDES]
    assert all(len(call.evidence) == 2 for call in sample.gold)
    assert '"value":4' in chat.asked[-1].messages[-1].content
    assert '"value":3' not in chat.asked[-1].messages[-1].content
