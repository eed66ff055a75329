"""Preliminary paths: what a model calls from request, tools and responses alone."""

import re
from contextlib import suppress
from random import Random

import orjson
import pytest

from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.multi_step.correction import (
    MOST_CALLS,
    MOST_SHOWN,
    NextCall,
    NextCalls,
    abridged,
    trace_goals,
)
from callwright.generators.multi_step.filling import Filling
from callwright.generators.multi_step.making import CROSS, plan_goals
from callwright.generators.multi_step.resolving import resolve
from callwright.generators.multi_step.sketches import Sketcher
from callwright.generators.multi_step.tool_graph import ToolGraph
from callwright.generators.multi_step.wording import word_goals
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Exchange, Goal, Picked, WordedGoal
from tests.support.generators.multi_step.asking import ErringTemplateChat, context_of
from tests.support.generators.multi_step.small_world import SmallWorld
from tests.support.sampling import sampled

DOMAINS = ("Hotels", "Flights", "Car Rental", "Attraction", CROSS)


async def worded_of(
    environment: Environment, domain: str, count: int, seed: int = 1
) -> list[WordedGoal]:
    worded: list[WordedGoal] = []
    async for goal in plan_goals(domain, "en", count, environment, seed=seed):
        with suppress(ReplyError):  # it has no words for this one; a build plans another
            worded += await word_goals(goal, context_of(environment, seed=goal.seed))
    return worded


async def worded_hotels(known: list[WordedGoal] = []) -> list[WordedGoal]:  # noqa: B006 - planned once for all tests
    if not known:
        known += await worded_of(open_travel(), "Hotels", 3)
    return known


def calls_of(path: tuple[Exchange, ...]) -> list[list[str]]:
    return [sorted(call.key for call in exchange.calls) for exchange in path]


@pytest.mark.parametrize("domain", sampled(DOMAINS, ("Car Rental", CROSS)))
async def test_the_template_model_finds_the_path_of_a_goal_from_its_request(domain: str):
    world = open_travel()
    found = 0
    for worded in await worded_of(world, domain, 6):
        (traced,) = await trace_goals(worded, context_of(world))
        assert traced.problem == ""
        found += calls_of(traced.trace) == calls_of((await resolve(worded.goal, world)).path)
    assert found >= 5


async def test_a_taxi_waits_at_the_airport_that_the_flight_arrives_at():
    world = open_travel()
    graph, vocabulary = ToolGraph(world, (), "en"), vocabulary_of(world)
    for seed in range(200):
        sketch = Sketcher(graph, vocabulary.element, Random(seed), crosses=True).draw(
            ["Search_Flights", "Search_Taxi"]
        )
        calls = (
            await Filling(graph, vocabulary, world, Random(seed)).fill(sketch) if sketch else None
        )
        moment = calls[-1].arguments["pick_up_date_time"] if calls else None
        if calls and isinstance(moment, Picked) and moment.later_by:
            break
    assert calls
    keys = tuple(tool.key for tool in world.tools)
    goal = Goal(
        environment=world.name, language="en", domain=CROSS, calls=calls, candidates=keys, seed=3
    )
    (worded,) = await word_goals(goal, context_of(world))
    assert "minutes after" in worded.request
    assert "arrival airport of" in worded.request
    (traced,) = await trace_goals(worded, context_of(world))
    assert calls_of(traced.trace) == calls_of((await resolve(goal, world)).path)


@pytest.mark.parametrize(
    "defect",
    [
        "omitted_call",
        "needless_call",
        "wrong_order",
        "wrong_type",
        "wrong_argument",
        "hallucinated_value",
        "missing_argument",
    ],
)
async def test_a_model_that_errs_finds_another_path(defect: str):
    world = open_travel()
    planted = different = 0
    for worded in await worded_hotels():
        chat = ErringTemplateChat({defect: 1.0})
        (traced,) = await trace_goals(worded, context_of(world, chat))
        planted += defect in chat.planted
        different += calls_of(traced.trace) != calls_of((await resolve(worded.goal, world)).path)
    assert planted
    assert different >= planted


async def test_a_reply_that_is_unusable_ends_the_trace_with_the_reason():
    (worded,) = await worded_of(SmallWorld(), "Inns", 1)
    first = NextCalls(calls=[NextCall(name="Find_Town", arguments={"query": "Corwen"})])
    chat = ScriptedModel({"call_next": [first, ReplyError("It can't be read.")]})
    (traced,) = await trace_goals(worded, context_of(SmallWorld(), chat))
    assert len(traced.trace) == 1
    assert traced.problem == "It can't be read."


async def test_a_call_that_fails_is_answered_with_its_problem_and_the_trace_goes_on():
    (worded,) = await worded_of(SmallWorld(), "Inns", 1)
    wrong = NextCalls(calls=[NextCall(name="Read_Inn_Reviews", arguments={"inn_id": "x"})])
    chat = ScriptedModel({"call_next": [wrong, NextCalls(answer="Done.")]})
    (traced,) = await trace_goals(worded, context_of(SmallWorld(), chat))
    assert traced.trace[0].responses == ({"error": "There is no such inn."},)
    assert traced.problem == ""


async def test_of_many_tools_those_are_shown_that_are_due_and_their_like():
    world = open_travel()
    (worded, *_) = await worded_hotels()
    every = tuple(tool.key for tool in world.tools)
    assert len(every) > MOST_SHOWN
    wide = worded.with_changes(goal=worded.goal.with_changes(candidates=every))
    chat = ScriptedModel({"call_next": [NextCalls(answer="Done.")]})
    await trace_goals(wide, context_of(world, chat))
    [tools] = re.findall(r"^<tools>(.*)</tools>$", chat.asked[0].messages[-1].content, re.MULTILINE)
    shown = {one["name"] for one in orjson.loads(tools)}
    assert len(shown) <= MOST_SHOWN
    assert {call.tool for call in worded.goal.calls} < shown


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (NextCalls(), "neither called nor answered"),
        (NextCalls(calls=[NextCall(name="Find_Town")] * (MOST_CALLS + 1)), "at once"),
    ],
)
async def test_a_reply_that_says_nothing_or_calls_too_much_ends_the_trace(
    reply: NextCalls, reason: str
):
    (worded,) = await worded_of(SmallWorld(), "Inns", 1)
    (traced,) = await trace_goals(
        worded, context_of(SmallWorld(), ScriptedModel({"call_next": [reply]}))
    )
    assert reason in traced.problem
    assert traced.trace == ()


def test_a_long_response_keeps_every_entry_and_every_identifier():
    entries = [
        {"id": "x" * 600, "price": at, "text": "so many words " * 400, "photos": list(range(90))}
        for at in range(20)
    ]
    shown = abridged({"data": entries})
    assert isinstance(shown, dict)
    data = shown["data"]
    assert isinstance(data, list)
    assert [(one["id"], one["price"]) for one in data] == [
        (one["id"], one["price"]) for one in entries
    ]  # type: ignore[index,call-overload]
    assert len(str(shown)) < 24_000
    assert abridged({"data": 1}) == {"data": 1}
