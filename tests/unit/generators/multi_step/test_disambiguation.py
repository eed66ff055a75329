"""One path and no other: what is removed, what is struck, what stays."""

from callwright.generators.multi_step.disambiguation import disambiguate, single_path
from callwright.generators.multi_step.resolving import resolve
from callwright.generators.multi_step.samples import write_sample
from callwright.generators.stages import StageContext
from callwright.testing import context_of
from callwright.warehouse.records import (
    CallPlace,
    Condition,
    EntryRule,
    Goal,
    GoalPath,
    Picked,
    PlannedCall,
    SampleFacts,
    StatedValue,
    TracedGoal,
    WordedGoal,
)
from tests.support.generators.multi_step.paths import shortest_paths
from tests.support.generators.multi_step.town import TOOLS, Town, goal, keys_of, request


def context() -> StageContext:
    return context_of(TOOLS, environments=[Town()])


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


async def test_an_entry_of_the_same_rank_is_struck() -> None:
    (path,) = await disambiguate(await path_of(goal(city="Bern"), request("Bern")), context())
    assert (1, 0, "data.hotels", 1) in [
        (one.step, one.call, one.entries, one.entry) for one in path.strikes
    ]


async def test_one_path_is_left() -> None:
    for wish in (
        goal(),
        goal(city="Bern"),
        goal(where=(Condition(test="contains", field="name", value="Fjord House"),)),
    ):
        (path,) = await disambiguate(await path_of(wish), context())
        tools = [
            tool for tool in TOOLS if tool.key in wish.candidates and tool.key not in path.removed
        ]
        found = await shortest_paths(wish, Town(), tools, path.strikes)
        assert found == [path.path]


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


async def test_the_sample_has_evidence_for_every_argument() -> None:
    (path,) = await disambiguate(await path_of(goal()), context())
    sample = await write_sample(path, context(), path)
    assert [turn.kind for turn in sample.turns] == ["user", *["calls", "result"] * 3, "reply"]
    assert sample.facts == SampleFacts(
        environment="town",
        template=path.traced.worded.goal.key,
        wanted=(CallPlace(2, 0), CallPlace(2, 1)),
    )
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            assert sorted(one.argument for one in call.evidence) == sorted(call.arguments)
    hotel = sample.gold[0].evidence[0]
    assert hotel.path == "turns[4].results[0].data.hotels[1].hotel_id"
    assert hotel.rule == EntryRule(
        entries="data.hotels", field="hotel_id", where=(Condition(test="lowest", field="price"),)
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


async def test_of_two_tools_that_stand_for_each_other_one_is_left() -> None:
    wish = two_lookups()
    (path,) = await disambiguate(await path_of(wish), context())
    assert [call.tool for call in path.path[0].calls] in (["find_place"] * 2, ["locate_place"] * 2)
    assert len(path.removed) == 1
    tools = [tool for tool in TOOLS if tool.key in wish.candidates and tool.key not in path.removed]
    assert await shortest_paths(path.traced.worded.goal, Town(), tools, path.strikes) == [path.path]


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
