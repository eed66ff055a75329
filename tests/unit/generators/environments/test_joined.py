"""Worlds made of worlds: calls go where their tools are, and the state is all states in one."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.generators.environments.episodes import (
    START,
    FaultyWorld,
    StatefulWorld,
    diff,
    is_changeable,
    loaded,
    unnamed,
    world_of,
)
from callwright.generators.environments.joined import JoinedEnvironment, JoinedWorld
from callwright.generators.environments.opening import join_shipped, open_shipped, ship_world
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Fault, GoldCall
from tests.support.generators import depot
from tests.support.generators.multi_step import workshop

BICYCLE, PARCEL = Call(tool="list_bicycles"), Call(tool="list_parcels")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Environment, Environment]:
    """The workshop and the depot."""
    folder = tmp_path_factory.mktemp("joined")
    return workshop.open_workshop(folder), depot.open_depot(folder)


@pytest.fixture(scope="module")
def joined(parts: tuple[Environment, Environment]) -> JoinedEnvironment:
    return JoinedEnvironment(parts)


def calls_in(world: StatefulWorld) -> list[Call]:
    """Calls that write in both of its worlds, and one that is refused."""
    answer = world.begin().answer
    bicycles: Any = answer(BICYCLE).response
    parcels: Any = answer(PARCEL).response
    repairs: Any = answer(
        Call(tool="list_repairs", arguments={"bicycle_id": bicycles[0]["id"]})
    ).response
    return [
        Call(tool="update_bicycle", arguments={"bicycle_id": bicycles[1]["id"], "colour": "white"}),
        Call(tool="create_repair", arguments={"bicycle_id": bicycles[0]["id"], "part": "saddle"}),
        Call(tool="delete_repair", arguments={"repair_id": repairs[0]["id"]}),
        Call(tool="delete_parcel", arguments={"parcel_id": parcels[0]["id"]}),
        Call(tool="update_parcel", arguments={"parcel_id": parcels[1]["id"], "service": "express"}),
        Call(tool="delete_parcel", arguments={"parcel_id": "never"}),
    ]


def test_each_call_is_answered_by_the_world_that_has_its_tool(
    joined: JoinedEnvironment, parts: tuple[Environment, Environment]
) -> None:
    assert is_changeable(joined)
    assert isinstance(joined, StatefulWorld)
    assert joined.name == "workshop+depot"
    for part, call in zip(parts, (BICYCLE, PARCEL), strict=True):
        assert joined.begin(5).answer(call) == world_of(part).begin(5).answer(call)
    assert {
        one for one in ("update_bicycle", "delete_parcel", "get_parcel") if joined.writes(one)
    } == {"update_bicycle", "delete_parcel"}
    assert joined.begin().answer(Call(tool="nothing")).error == "not_found"


async def test_builds_are_answered_as_by_each(
    joined: JoinedEnvironment, parts: tuple[Environment, Environment]
) -> None:
    assert [await joined.answer(one) for one in (BICYCLE, PARCEL)] == [
        await parts[0].answer(BICYCLE),
        await parts[1].answer(PARCEL),
    ]
    assert (await joined.answer(Call(tool="nothing"))).error == "not_found"
    assert {link.tool for link in joined.links} == {
        link.tool for part in parts for link in part.links
    }


def test_what_changes_stands_after_the_name_of_its_world(joined: JoinedEnvironment) -> None:
    episode = joined.begin()
    for call in calls_in(joined):
        episode.answer(call)
    kinds = {one.kind for one in diff(START, episode.state)}
    assert {"workshop bicycle", "workshop repair", "depot parcel"} <= kinds
    one, other = joined.begin(), joined.begin()
    for call in calls_in(joined):
        one.answer(call)
    for call in reversed(calls_in(joined)):
        other.answer(call)
    assert unnamed(diff(START, one.state)) == unnamed(diff(START, other.state)), (
        "the order of the worlds is free"
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=4))
def test_states_are_values_of_all_worlds(
    joined: JoinedEnvironment, first: list[int], second: list[int]
) -> None:
    calls, episode = calls_in(joined), joined.begin()
    for at in first:
        episode.answer(calls[at])
    kept = episode.snapshot()
    after = [episode.answer(calls[at]) for at in second]
    assert loaded(orjson.loads(orjson.dumps(kept.dumped()))) == kept
    other = joined.begin()
    other.restore(kept)
    assert other.state == kept
    assert [other.answer(calls[at]) for at in second] == after
    assert other.state == episode.state


def test_a_fault_may_lie_over_all_of_them(
    joined: JoinedEnvironment, parts: tuple[Environment, Environment]
) -> None:
    call = GoldCall(tool="delete_parcel", arguments=calls_in(joined)[3].arguments)
    source = depot.errand(parts[1])
    fault = Fault(
        sort="unavailable",
        due="tell",
        until=1,
        at=2,
        call=call,
        told={"error": "down"},
        source=source,
    )
    episode = FaultyWorld(joined, fault).begin()
    state = episode.snapshot()
    found = [episode.answer(one) for one in calls_in(joined)]
    episode.restore(state)
    assert [episode.answer(one) for one in calls_in(joined)] == found


def test_two_tools_of_one_name_are_refused_with_what_to_do(
    parts: tuple[Environment, Environment],
) -> None:
    with pytest.raises(
        ConfigurationError, match=r"'workshop' and 'workshop' both have a tool '\w+'.*`rename`"
    ):
        JoinedEnvironment([parts[0], parts[0]])


def test_what_was_shipped_is_opened_as_the_same_world(
    joined: JoinedEnvironment, parts: tuple[Environment, Environment]
) -> None:
    documents = [
        SimulatedSettings.model_validate({"environment": "simulated", "name": name, "path": path})
        for name, path in (("workshop", workshop.DOCUMENT), ("depot", depot.DOCUMENT))
    ]
    shipped = {one.name: ship_world(part, one) for part, one in zip(parts, documents, strict=True)}
    whole = join_shipped(joined, shipped)
    opened = open_shipped(orjson.loads(orjson.dumps(dict(whole.document))), Path())
    assert isinstance(opened, JoinedWorld)
    episodes = opened.begin(3), joined.begin(3)
    for call in calls_in(joined):
        assert episodes[0].answer(call) == episodes[1].answer(call)
    assert episodes[0].state == episodes[1].state
