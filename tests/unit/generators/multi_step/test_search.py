"""The shortest paths to a goal, found over what an environment answers."""

import pytest

from callwright.generators.multi_step.resolving import resolve
from callwright.generators.multi_step.search import Path
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Condition,
    Default,
    Picked,
    PlannedCall,
    StatedValue,
    Strike,
    Tool,
)
from tests.support.generators.multi_step.paths import shortest_paths
from tests.support.generators.multi_step.town import TOOLS, Town, goal


def _tools(*without: str) -> list[Tool]:
    return [tool for tool in TOOLS if tool.name not in without]


def _names(path: Path) -> list[list[str]]:
    return [[call.tool for call in exchange.calls] for exchange in path]


SUBURB = Strike(step=0, call=0, entries="data", entry=1, reason="It is another place of that name.")


async def test_a_goal_is_resolved_step_by_step() -> None:
    resolved = await resolve(goal(), Town())
    assert _names(resolved.path) == [
        ["find_place"],
        ["search_hotels"],
        ["hotel_details", "hotel_reviews"],
    ]
    assert resolved.path[1].calls[0].arguments == {
        "place_id": "p1",
        "check_in": "2026-12-05",
        "adults": 1,
    }
    assert resolved.path[2].calls[0].arguments == {"hotel_id": "h2"}
    assert [(place.path, len(place.fitting)) for place in resolved.places][1:] == [
        ("data.hotels[1].hotel_id", 1)
    ] * 2


async def test_the_sentence_says_which_value_could_not_be_picked() -> None:
    with pytest.raises(
        RecordError,
        match=r"'data.hotels' that search_hotels returned meets the conditions for 'hotel",
    ):
        await resolve(goal(where=(Condition(test="equals", field="name", value="Grand"),)), Town())


async def test_a_response_that_fails_is_told() -> None:
    with pytest.raises(RecordError, match=r"find_place.*was not answered: There is no place 'Ulm'"):
        await resolve(goal(city="Ulm"), Town())


async def test_ties_are_counted_and_the_first_is_taken() -> None:
    resolved = await resolve(goal(city="Bern"), Town())
    assert [
        (place.entry, len(place.fitting)) for place in resolved.places if place.leaf.call == 2
    ] == [(0, 2)]


async def test_the_same_call_is_made_once() -> None:
    twice = goal()
    again = (*twice.calls, PlannedCall(tool="find_place", arguments=twice.calls[0].arguments))
    resolved = await resolve(twice.with_changes(calls=again), Town())
    assert len(resolved.path[0].calls) == 1
    assert resolved.positions[4] == resolved.positions[0]


async def test_an_entry_that_reads_as_well_makes_a_second_path() -> None:
    lodge = goal(where=(Condition(test="contains", field="name", value="Fjord House"),))
    unstruck = await shortest_paths(lodge, Town(), _tools("locate_place", "hotel_card"), (SUBURB,))
    assert [path[2].calls[0].arguments["hotel_id"] for path in unstruck] == ["h1", "h2"]
    annex = Strike(step=1, call=0, entries="data.hotels", entry=1, reason="Its name fits as well.")
    assert (
        len(
            await shortest_paths(
                lodge, Town(), _tools("locate_place", "hotel_card"), (SUBURB, annex)
            )
        )
        == 1
    )


async def test_another_tool_that_gives_the_same_value_makes_a_second_path() -> None:
    paths = await shortest_paths(goal(), Town(), _tools("hotel_card"), (SUBURB,))
    assert [path[0].calls[0].tool for path in paths] == ["find_place", "locate_place"]
    assert (
        len(await shortest_paths(goal(), Town(), _tools("hotel_card", "locate_place"), (SUBURB,)))
        == 1
    )


async def test_another_tool_that_gives_a_wanted_response_makes_a_second_path() -> None:
    paths = await shortest_paths(goal(), Town(), _tools("locate_place"), (SUBURB,))
    assert [path[2].calls[0].tool for path in paths] == ["hotel_details", "hotel_card"]


async def test_without_its_tool_a_goal_has_no_path() -> None:
    assert await shortest_paths(goal(), Town(), _tools("search_hotels")) == []


async def test_a_call_that_nothing_needs_is_on_no_shortest_path() -> None:
    longer = goal()
    needless = PlannedCall(
        tool="locate_place", arguments={"text": StatedValue(value="Oslo", element="city")}
    )
    longer = longer.with_changes(calls=(*longer.calls, needless))
    paths = await shortest_paths(longer, Town(), _tools("hotel_card"), (SUBURB,), limit=4)
    assert all(sum(len(exchange.calls) for exchange in path) == 4 for path in paths)


async def test_a_detour_is_left_out() -> None:
    detour = goal()
    place = Picked(
        call=1,
        entries="data",
        field="id",
        where=(Condition(test="equals", field="name", value="Oslo"),),
    )
    hotel = detour.calls[2].arguments["hotel_id"]
    assert isinstance(hotel, Picked)
    query = Picked(call=0, entries="data", field="label")
    calls = (
        PlannedCall(
            tool="locate_place", arguments={"text": StatedValue(value="Oslo", element="city")}
        ),
        PlannedCall(tool="find_place", arguments={"query": Default(value="oslo")}),
        detour.calls[1].with_changes(arguments={**detour.calls[1].arguments, "place_id": place}),
        PlannedCall(
            tool="hotel_details", arguments={"hotel_id": hotel.with_changes(call=2)}, wanted=True
        ),
    )
    assert query.field == "label"
    paths = await shortest_paths(
        detour.with_changes(calls=calls), Town(), _tools("hotel_card"), limit=4
    )
    assert {len(path) for path in paths} == {3}
    assert {sum(len(exchange.calls) for exchange in path) for path in paths} == {3}


async def test_each_call_is_asked_of_the_environment_once() -> None:
    town = Town()
    await shortest_paths(goal(), town, _tools())
    assert town.asked <= 12
