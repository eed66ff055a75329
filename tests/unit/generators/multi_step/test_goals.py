"""Goals: they succeed in their environment, hang together, and are on average what was asked
for.
"""

import re
from collections import Counter

import pytest

from callwright.generators.environments.picking import choose, entries_of
from callwright.generators.environments.protocol import CallResponse, Environment
from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.multi_step.making import CROSS, PAPER, plan_goals
from callwright.generators.multi_step.resolving import leaves_of, resolve, steps_of
from callwright.generators.tools import argument_problems
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Goal, Link, Picked, StatedValue
from tests.support.generators.multi_step.small_world import SmallWorld, tool
from tests.support.sampling import sampled

DOMAINS = ("Hotels", "Flights", "Car Rental", "Attraction", CROSS)
SEEN = ("Hotels", "Attraction", CROSS)  # of which other tests ask for goals too


async def goals_of(environment: Environment, domain: str, count: int, seed: int = 1) -> list[Goal]:
    return [goal async for goal in plan_goals(domain, "en", count, environment, seed=seed)]


async def travel_goals(domain: str, planned: dict[str, list[Goal]] = {}) -> list[Goal]:  # noqa: B006 - planned once for all tests
    if domain not in planned:
        planned[domain] = await goals_of(open_travel(), domain, 15)
    return planned[domain]


@pytest.mark.parametrize("domain", ["Inns", CROSS])
async def test_every_call_of_a_goal_succeeds(domain: str):
    goals = await goals_of(SmallWorld(), domain, 12)
    assert len(goals) == 12
    for goal in goals:
        resolved = await resolve(goal, SmallWorld())
        assert len(resolved.positions) == len(goal.calls)


async def test_goals_are_all_different_and_the_same_again_for_the_same_seed():
    goals = await goals_of(SmallWorld(), "Inns", 12)
    assert len({goal.key for goal in goals}) == 12
    assert goals == await goals_of(SmallWorld(), "Inns", 12)
    assert goals != await goals_of(SmallWorld(), "Inns", 12, seed=2)


async def test_fewer_goals_are_the_first_of_more():
    assert await goals_of(SmallWorld(), "Inns", 4) == (await goals_of(SmallWorld(), "Inns", 9))[:4]


async def test_an_entry_is_meant_by_conditions_that_single_it_out():
    for goal in await goals_of(SmallWorld(), CROSS, 12):
        for place in (await resolve(goal, SmallWorld())).places:
            looked_up = goal.calls[place.leaf.source.call].tool == "Find_Town"  # type: ignore[union-attr]
            assert len(place.fitting) == 1 or looked_up


async def test_what_is_asked_of_an_entry_is_asked_for_the_days_of_its_search():
    goals = await goals_of(SmallWorld(), "Inns", 20)
    rooms = [(goal, call) for goal in goals for call in goal.calls if call.tool == "List_Inn_Rooms"]
    assert rooms
    for goal, call in rooms:
        source = call.arguments["inn_id"]
        assert isinstance(source, Picked)
        search = goal.calls[source.call]
        assert call.arguments["first_night"] == search.arguments["first_night"]
        assert call.arguments["last_night"] == search.arguments["last_night"]


async def test_candidates_are_the_tools_of_the_domains_and_the_wanted_calls_are_marked():
    for goal in await goals_of(SmallWorld(), "Inns", 5):
        assert set(goal.candidates) == {
            tool.key for tool in SmallWorld.tools if tool.category == "Inns"
        }
        assert any(call.wanted for call in goal.calls)
        assert goal.variants == 10


async def test_a_domain_without_tools_is_told_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="Inns, Sights"):
        await goals_of(SmallWorld(), "Trains", 1)


@pytest.mark.parametrize("domain", sampled(DOMAINS, SEEN))
async def test_the_averages_of_the_travel_world_are_those_of_the_paper(domain: str):
    goals = await travel_goals(domain)
    steps = [1 + max(steps_of(goal)) for goal in goals]
    assert len(goals) == 15
    assert sum(steps) / 15 == pytest.approx(PAPER[domain].steps, rel=0.15)
    assert sum(len(goal.calls) for goal in goals) / 15 == pytest.approx(
        PAPER[domain].calls, rel=0.15
    )


@pytest.mark.parametrize("domain", sampled(DOMAINS, SEEN))
async def test_goals_of_the_travel_world_are_about_many_tools_and_give_valid_arguments(domain: str):
    world = open_travel()
    tools = {tool.name: tool for tool in world.tools}
    goals = await travel_goals(domain)
    wanted = Counter(call.tool for goal in goals for call in goal.calls if call.wanted)
    assert len(wanted) >= 4
    assert max(wanted.values()) <= 10
    for goal in goals:
        for exchange in (await resolve(goal, world)).path:
            for call, response in zip(exchange.calls, exchange.responses, strict=True):
                assert argument_problems(tools[call.tool], call.arguments, partial=False) == []
                assert isinstance(response, dict)
                assert response["status"] is True


async def test_a_cross_domain_goal_of_the_travel_world_crosses_domains():
    world = open_travel()
    category = {tool.name: tool.category for tool in world.tools}
    for goal in await travel_goals(CROSS):
        assert len({category[call.tool] for call in goal.calls}) > 1


async def test_identifiers_are_never_said():
    element = vocabulary_of(open_travel()).element
    for goal in await travel_goals(CROSS):
        for index, call in enumerate(goal.calls):
            for leaf in leaves_of(index, call.arguments):
                if isinstance(leaf.source, StatedValue):
                    name = re.sub(r"\[\d+\]", "[]", leaf.argument)
                    assert element(call.tool, name) not in {"identifier", "filter"}


async def test_the_entry_that_is_cheapest_is_meant_where_the_goal_says_lowest():
    world = open_travel()
    checked = 0
    for goal in await travel_goals("Hotels"):
        resolved = await resolve(goal, world)
        for place in resolved.places:
            source = place.leaf.source
            if isinstance(source, Picked) and source.where and source.where[0].test == "lowest":
                entries = entries_of(
                    resolved.path[place.step].responses[place.call], source.entries
                )
                assert [entry.index for entry in choose(entries, source.where)] == [place.entry]
                checked += 1
    assert checked


class LooseWorld:
    """Albums of an artist and items of an order; nothing tells the identifiers of artists and
    orders.
    """

    name = "loose"
    tools = (
        tool(
            "Get_Artist",
            "Music",
            "Read an artist.",
            ["artist_id"],
            artist_id={
                "type": "string",
                "description": "The artist",
                "examples": ["0TnOYISbd1", "9xKq2LmZp4"],
            },
        ),
        tool(
            "List_Tracks",
            "Music",
            "List the tracks of an album.",
            ["album_id"],
            album_id={"type": "string"},
        ),
        tool("Get_Order", "Shop", "Read an order.", ["order_id"], order_id={"type": "integer"}),
        tool(
            "List_Items",
            "Shop",
            "List what a parcel holds.",
            ["parcel_id"],
            parcel_id={"type": "integer"},
        ),
        tool("List_Markets", "Markets", "List the markets.", []),
    )
    links = (
        Link(
            tool="List_Tracks",
            parameter="album_id",
            source="Get_Artist",
            entries="albums",
            field="id",
        ),
        Link(
            tool="List_Items",
            parameter="parcel_id",
            source="Get_Order",
            entries="parcels",
            field="id",
        ),
    )

    async def answer(self, call: Call) -> CallResponse:
        given = next(iter(call.arguments.values()), "")
        entries = [{"id": f"{call.tool} {given}", "name": f"That of {given}"}]
        return CallResponse({"albums": entries, "parcels": entries, "tracks": entries})


@pytest.mark.parametrize("domain", ["Music", "Shop"])
async def test_an_identifier_that_no_response_gives_is_not_stated_by_the_user(domain: str):
    assert await goals_of(LooseWorld(), domain, 3) == []


@pytest.mark.parametrize("domain", ["Markets", CROSS])
async def test_a_domain_whose_tools_do_not_hang_together_has_no_goals(domain: str):
    assert await goals_of(LooseWorld(), domain, 3) == []
