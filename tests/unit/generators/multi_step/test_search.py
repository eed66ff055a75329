"""The shortest paths to a goal, found over what an environment answers."""

import pytest

from callwright.generators.multi_step.resolving import resolve
from callwright.generators.multi_step.search import Path
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Condition, Tool
from tests.support.generators.multi_step.paths import shortest_paths
from tests.support.generators.multi_step.town import TOOLS, Town, goal


def _tools(*without: str) -> list[Tool]:
    return [tool for tool in TOOLS if tool.name not in without]


def _names(path: Path) -> list[list[str]]:
    return [[call.tool for call in exchange.calls] for exchange in path]


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


async def test_each_call_is_asked_of_the_environment_once() -> None:
    town = Town()
    await shortest_paths(goal(), town, _tools())
    assert town.asked <= 12
