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
from callwright.generators.parallel.making import plan_parallel, write_parallel
from callwright.generators.slots import SlottedRequest
from callwright.generators.stages import StageContext
from callwright.generators.tools import are_redundant
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import PlannedCall, RoutingPlan, StatedValue, Tool
from tests.support.warehouse.fixtures import make_tool

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


def test_what_is_set_once_is_not_set_twice_in_one_message() -> None:
    text = {"type": "string"}
    token = make_tool("update_token", userName=text).with_changes(
        description="Update the current user's token."
    )
    tools = (
        token,
        make_tool("update_playlist", playlistId=text),
        make_tool("get_song", songId=text),
    )
    sets = [[one.tool for one in plan.calls] for plan in plan_parallel(order(60, tools))]
    assert any(calls.count("update_playlist") > 1 for calls in sets)
    assert any("update_token" in calls for calls in sets)
    assert not any(calls.count("update_token") > 1 for calls in sets)


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


async def test_each_call_has_slots_and_evidence_of_its_own() -> None:
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
    reply = SlottedRequest(
        request="To [destination_2] with [passengers_2] of us, and [passengers] to [destination]."
    )
    chat = ScriptedModel({"word_requests": [reply]})
    [sample] = await write_parallel(plan, StageContext(chat, Random(1), {RIDE.key: RIDE}))
    assert [call.arguments for call in sample.gold] == [*RIDES]
    quoted = [[one.quote for one in call.evidence] for call in sample.gold]
    assert [names for names, _ in quoted] == ["Central Station", "the old mill"]
    assert sample.gold[0].evidence[0].start > sample.gold[1].evidence[0].start
    assert chat.asked[0].messages[-1].content.splitlines()[1:] == [
        "1. Order a ride",
        "[destination]: destination",
        "[passengers]: passengers",
        "2. Order a ride",
        "[destination_2]: destination",
        "[passengers_2]: passengers",
    ]
