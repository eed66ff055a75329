"""One path and no other: what is removed, what is struck, what stays."""

from typing import Any

from callwright.generators.multi_step.disambiguation import disambiguate, single_path
from callwright.generators.multi_step.resolving import resolve
from callwright.generators.stages import StageContext
from callwright.testing import context_of
from callwright.warehouse.records import (
    Condition,
    Goal,
    GoalPath,
    Picked,
    PlannedCall,
    StatedValue,
    TracedGoal,
    WordedGoal,
)
from tests.support.generators.multi_step.paths import shortest_paths
from tests.support.generators.multi_step.town import TOOLS, Town, goal, keys_of, request
from tests.support.generators.multi_step.workshop import Plain


def context() -> StageContext:
    chat: Any = Plain()
    return context_of(TOOLS, chat, environments=[Town()])


async def path_of(wish: Goal, text: str = "") -> GoalPath:
    resolved = await resolve(wish, Town())
    worded = WordedGoal(goal=wish, request=text or request())
    return GoalPath(
        traced=TracedGoal(worded=worded, trace=resolved.path),
        request=worded.request,
        path=resolved.path,
    )


async def test_what_overlaps_is_removed_and_what_is_needed_stays() -> None:
    wish = goal(candidates=tuple(tool.key for tool in TOOLS))
    (path,) = await disambiguate(await path_of(wish), context())
    assert set(path.removed) == set(keys_of("locate_place", "hotel_card"))


async def test_an_entry_of_the_same_name_is_struck_and_an_unrelated_one_stays() -> None:
    (path,) = await disambiguate(await path_of(goal()), context())
    assert [(one.step, one.call, one.entries, one.entry) for one in path.strikes] == [
        (0, 0, "data", 1)
    ]
    assert [place["name"] for place in path.path[0].responses[0]["data"]] == ["Oslo", "Elsewhere"]


async def test_what_another_value_needs_is_not_struck() -> None:
    cheap = goal(city="Bern")
    lodge = (
        cheap.calls[3]
        .arguments["hotel_id"]
        .with_changes(where=(Condition(test="equals", field="name", value="Aare Lodge"),))
    )
    reviews = cheap.calls[3].with_changes(arguments={"hotel_id": lodge})
    wish = cheap.with_changes(calls=(*cheap.calls[:3], reviews))
    (path,) = await disambiguate(await path_of(wish, request("Bern")), context())
    assert [one.entries for one in path.strikes] == ["data"]
    assert (
        len(await shortest_paths(wish, Town(), context().toolset(wish.candidates), path.strikes))
        == 2
    )


def two_lookups() -> Goal:
    """A goal that finds one place by one tool and another by the other: each tool could find
    both.
    """
    plain = goal()
    bern = Picked(
        call=2,
        entries="data",
        field="place",
        where=(Condition(test="contains", field="label", value="Bern"),),
    )
    search = plain.calls[1]
    return plain.with_changes(
        calls=(
            plain.calls[0],
            search.with_changes(wanted=True),
            PlannedCall(
                tool="locate_place", arguments={"text": StatedValue(value="Bern", element="city")}
            ),
            search.with_changes(arguments={**search.arguments, "place_id": bern}, wanted=True),
        ),
        candidates=keys_of("find_place", "locate_place", "search_hotels"),
    )


async def test_a_goal_is_told_to_have_a_single_path_or_not() -> None:
    tools = context().toolset(
        keys_of("find_place", "locate_place", "search_hotels", "hotel_details", "hotel_reviews")
    )
    assert await single_path(goal(), Town(), tools)
    assert await single_path(two_lookups(), Town(), tools)
    cheap = goal(city="Bern")
    picked = cheap.calls[3].arguments["hotel_id"]
    assert isinstance(picked, Picked)
    lodge = picked.with_changes(where=(Condition(test="equals", field="name", value="Aare Lodge"),))
    both = cheap.with_changes(
        calls=(*cheap.calls[:3], cheap.calls[3].with_changes(arguments={"hotel_id": lodge}))
    )
    assert not await single_path(both, Town(), tools)
    assert not await single_path(goal(city="Ulm"), Town(), tools)
