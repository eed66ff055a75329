"""Candidates made to err in each of the paper's five ways, over paths of the travel world
(ComplexFuncBench 4.3.1).
"""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest

from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.travel import open_travel
from callwright.generators.multi_step.making import plan_goals
from callwright.generators.multi_step.resolving import resolve
from callwright.validators.metrics.complexeval.runs import (
    MatchedCall,
    Matchers,
    RunOutcome,
    SampleRun,
)
from callwright.warehouse.records import Call, EvalMode, Exchange, Tool
from tests.support.validators.complexeval.paths import likeness, made

DOMAINS = ("Hotels", "Flights", "Car Rental", "Attraction", "Cross")
WAYS = ("func_error", "param_missing", "hallucination", "value_error", "stop_early")
SOME: Mapping[Any, Any] = {"number": 3, "integer": 3, "boolean": True, "array": [], "object": {}}


class Given(NamedTuple):
    """A path with the tools to walk it."""

    path: tuple[Exchange, ...]
    tools: dict[str, Tool]


@pytest.fixture(scope="module")
def world() -> Environment:
    return open_travel()


@pytest.fixture(scope="module")
def paths(world: Environment) -> list[Given]:
    return asyncio.run(_plan_paths(world))


async def _plan_paths(world: Environment, of_domain: int = 3) -> list[Given]:
    planned = []
    for domain in DOMAINS:
        async for goal in plan_goals(domain, "en", of_domain, world, seed=3):
            tools = {tool.name: tool for tool in world.tools if tool.key in goal.candidates}
            planned.append(Given((await resolve(goal, world)).path, tools))
    return planned


def spoilt(way: str, given: Given, rng: Random) -> list[list[Call]]:
    """The calls of the path, with one of them spoilt in this way, or its last step left out."""
    script = [list(step.calls) for step in given.path]
    if way == "stop_early":
        return script[:-1]
    spots = [
        (at, place)
        for at, calls in enumerate(script)
        for place, one in enumerate(calls)
        if one.arguments
    ]
    at, place = rng.choice(spots)
    one = script[at][place]
    script[at][place] = _spoilt_call(
        way, one, given.tools, {call.tool for calls in script for call in calls}, rng
    )
    return script


def _spoilt_call(
    way: str, one: Call, tools: Mapping[str, Tool], used: set[str], rng: Random
) -> Call:
    if way == "func_error":
        other = rng.choice([tool for name, tool in tools.items() if name not in used] or [None])
        if other is None:
            return Call(tool="Do_Something", arguments=one.arguments)
        filled = {
            name: SOME.get(other.properties[name].get("type"), "some") for name in other.required
        }
        return Call(tool=other.name, arguments=filled)
    if way == "param_missing":
        name = rng.choice(tools[one.tool].required or [*one.arguments])
        return Call(
            tool=one.tool,
            arguments={key: value for key, value in one.arguments.items() if key != name},
        )
    if way == "hallucination":
        return Call(tool=one.tool, arguments={**one.arguments, "mood": "good"})
    name = rng.choice([*one.arguments])
    value = one.arguments[name]
    wrong = (
        f"{value}9"
        if isinstance(value, str)
        else []
        if isinstance(value, list)
        else value + 1
        if value
        else 7
    )
    return Call(tool=one.tool, arguments={**one.arguments, name: wrong})


async def walk(
    given: Given, world: Environment, mode: EvalMode, script: Sequence[Sequence[Call]]
) -> tuple[RunOutcome, list[MatchedCall]]:
    async def respond(call: Call) -> Any:
        answer = await world.answer(call)
        return None if answer.problem else answer.response

    run = SampleRun(given.path, given.tools.values(), mode, Matchers(likeness, respond))
    judged: list[MatchedCall] = []
    for calls in script:
        if run.outcome is None:
            judged += await run.take(made(*calls))
    return run.outcome or await run.finish("Done."), judged


@pytest.mark.parametrize("mode", ["as_paper", "as_published_code"])
async def test_a_perfect_candidate_succeeds_on_every_path(
    mode: EvalMode, world: Environment, paths: list[Given]
) -> None:
    for given in paths:
        outcome, _ = await walk(given, world, mode, [list(step.calls) for step in given.path])
        assert outcome.success, outcome.message
        assert outcome.correct_calls == outcome.total_calls


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_of_each_kind_is_called_by_its_name(
    way: str, world: Environment, paths: list[Given]
) -> None:
    """Unless the world answers the spoilt call as it answers the gold one: then the response
    makes them equal.
    """
    rng = Random(way)
    seen = 0
    for given in paths:
        for _ in range(3):
            outcome, judged = await walk(given, world, "as_paper", spoilt(way, given, rng))
            if any(one.matched == "response" for one in judged):
                assert outcome.success
                continue
            seen += 1
            assert outcome.error is not None
            assert outcome.error.error_type == way, outcome.message
    assert seen >= 40


async def test_defaults_that_are_spelt_out_or_left_out_are_found_by_the_response(
    world: Environment, paths: list[Given]
) -> None:
    seen = 0
    for given in paths:
        script = [
            [_with_defaults(one, given.tools[one.tool]) for one in step.calls]
            for step in given.path
        ]
        outcome, judged = await walk(given, world, "as_paper", script)
        assert outcome.success, outcome.message
        seen += sum(one.matched == "response" for one in judged)
    assert seen >= 5


def _with_defaults(one: Call, tool: Tool) -> Call:
    defaults = {
        name: schema["default"] for name, schema in tool.properties.items() if "default" in schema
    }
    return Call(tool=one.tool, arguments={**defaults, **one.arguments})
