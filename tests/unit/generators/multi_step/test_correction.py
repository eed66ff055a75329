"""A model's path held against the shortest: what was missing, needless, misplaced or wrong, and
what the request lacked.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.multi_step.correction import MendedRequest, compare_paths, correct_paths
from callwright.generators.multi_step.resolving import resolve
from callwright.generators.stages import StageContext
from callwright.testing import ScriptedModel, context_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    Default,
    Exchange,
    Goal,
    PlannedCall,
    StatedValue,
    TracedGoal,
    WordedGoal,
)
from tests.support.generators.multi_step.town import TOOLS, Town, goal, request


def context(chat: ScriptedModel | None = None) -> StageContext:
    return context_of(TOOLS, chat, environments=[Town()])


def step(*calls: Call) -> Exchange:
    return Exchange(calls=calls, responses=(None,) * len(calls))


def call(tool: str, **arguments: object) -> Call:
    return Call.model_validate({"tool": tool, "arguments": arguments})


FIND, OTHER = call("find", text="Oslo"), call("find", text="Bern")
SEARCH = call("search", place="p1", adults=2)
DETAILS, REVIEWS = call("details", hotel="h1"), call("reviews", hotel="h1")
SHORTEST = (step(FIND), step(SEARCH), step(DETAILS, REVIEWS))


def kinds(*before: Exchange) -> list[tuple[str, int | None]]:
    return [(one.kind, one.step) for one in compare_paths(before, SHORTEST)]


def test_what_lacks_is_missing_and_what_is_over_is_needless() -> None:
    assert kinds(step(FIND), step(SEARCH), step(DETAILS)) == [("missing", 2)]
    assert kinds(step(FIND, call("currency")), *SHORTEST[1:]) == [("needless", 0)]
    assert kinds() == [("missing", 0), ("missing", 1), ("missing", 2), ("missing", 2)]


def test_a_wrong_value_and_a_wrong_type_are_told_apart() -> None:
    wrong = call("search", place="p2", adults="2")
    found = compare_paths((step(FIND), step(wrong), step(DETAILS, REVIEWS)), SHORTEST)
    assert [(one.kind, one.before, one.after) for one in found] == [
        ("type", 'search.adults = "2"', "search.adults = 2"),
        ("value", 'search.place = "p2"', 'search.place = "p1"'),
    ]


@given(
    st.lists(
        st.lists(st.sampled_from([FIND, OTHER, SEARCH, DETAILS, REVIEWS]), max_size=3), max_size=4
    )
)
def test_only_equal_paths_need_no_correction(steps: list[list[Call]]) -> None:
    before = [step(*calls) for calls in steps if calls]
    same = [sorted(one.key for one in exchange.calls) for exchange in before] == [
        sorted(one.key for one in exchange.calls) for exchange in SHORTEST
    ]
    assert (compare_paths(before, SHORTEST) == []) == same


async def traced(wish: Goal, text: str = "") -> TracedGoal:
    return TracedGoal(
        worded=WordedGoal(goal=wish, request=text or request()),
        trace=(await resolve(goal(), Town())).path,
    )


async def test_a_shorter_path_than_the_planned_one_is_taken_and_its_goal_with_it() -> None:
    plain = goal()
    query = Default(value="Oslo")
    needless = PlannedCall(
        tool="locate_place", arguments={"text": StatedValue(value="Oslo", element="city")}
    )
    wish = plain.with_changes(
        calls=(*plain.calls, needless, PlannedCall(tool="find_place", arguments={"query": query})),
        candidates=tuple(tool.key for tool in TOOLS),
    )
    (path,) = await correct_paths(await traced(wish), context())
    assert sum(len(exchange.calls) for exchange in path.path) == 4
    assert (await resolve(path.traced.worded.goal, Town())).path == path.path


async def test_a_request_that_lacks_a_detail_is_mended_and_shown_before_and_after() -> None:
    text = "I am off to Oslo. Tell me about the cheapest hotel and what guests say."
    chat = ScriptedModel(
        {"rewrite_goal": [MendedRequest(request=text), MendedRequest(request=request())]}
    )
    (path,) = await correct_paths(await traced(goal(), text), context(chat))
    assert path.request == request()
    assert [(one.kind, one.before, one.after) for one in path.corrections] == [
        ("request", text, request())
    ]
    assert '"value":"2026-12-05"' in chat.asked[0].messages[-1].content


async def test_a_goal_that_no_path_meets_is_told() -> None:
    wish = goal()
    with pytest.raises(RecordError, match="No path meets the goal"):
        await correct_paths(
            await traced(wish.with_changes(candidates=wish.candidates[1:])), context()
        )
