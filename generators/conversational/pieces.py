"""The pieces that episodes are put together of: requests, questions, calls and what is told of them."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from generators.conversational.facts import facts_of
from generators.conversational.scenarios import changeable
from generators.conversational.values import Values
from generators.environments.simulated import SimulatedEnvironment
from generators.multi_step.picking import value_at
from warehouse.errors import RecordError
from warehouse.records import Arguments, Episode, ErrorCode, Fact, JsonSchema, Move, Part, SimulatedCall, Tool

TOLD = 2  # facts of a result that a reply tells


class Stage(NamedTuple):
    """What the episodes of a conversation are made with."""

    tools: Mapping[str, Tool]
    values: Values
    world: SimulatedEnvironment
    rng: Random


Moves = list[Move]


async def requested(episode: Episode, stage: Stage, *, optional: int = 1) -> tuple[Tool, Arguments]:
    """The episode's first tool with a value for all that it requires, and for some of what it allows."""
    tool = stage.tools[episode.tools[0]]
    more = [name for name, schema in tool.properties.items() if name not in tool.required and _is_plain(schema)]
    chosen = stage.rng.sample(more, min(len(more), stage.rng.randint(0, optional)))
    return tool, await stage.values.fill(tool, [*tool.required, *chosen])


def _is_plain(schema: JsonSchema) -> bool:
    return schema.get("type") in ("string", "integer", "number") or "enum" in schema


async def changed(tool: Tool, arguments: Arguments, stage: Stage) -> Arguments:
    """Another value for one of the arguments."""
    name = stage.rng.choice(changeable(tool))
    others = await stage.values.others(tool, name, arguments, 1)
    if not others:
        raise RecordError(f"{name!r} of {tool.name!r} has no other value than {arguments[name]!r}.")
    return {name: others[0]}


def asks(*parts: Part) -> Move:
    """A request for one tool or several."""
    return Move(speaker="user", intent="request", parts=parts)


def seeks(tool: Tool, given: Arguments, missing: list[str]) -> Move:
    """A question for what a request lacks."""
    part = Part(tool=tool.key, arguments=given)
    return Move(speaker="agent", intent="ask_parameters", parts=(part,), asked=tuple(missing), acts=("seek",))


def simulated(tool: Tool, arguments: Arguments, stage: Stage) -> SimulatedCall:
    """A call that goes well."""
    return SimulatedCall(tool=tool.name, arguments=arguments, result=stage.world.succeed(tool, arguments))


def served(tool: Tool, arguments: Arguments, stage: Stage) -> Moves:
    """The call that goes well, and the reply that tells of it."""
    call = simulated(tool, arguments, stage)
    return [Move(speaker="calls", calls=(call,)), informs(facts_of(call.result, tool)[:TOLD])]


def informs(facts: list[Fact]) -> Move:
    """A reply that tells what came of calls."""
    return Move(speaker="agent", intent="inform", facts=tuple(facts), acts=("inform",))


def failing(tool: Tool, arguments: Arguments, change: Arguments, code: ErrorCode, stage: Stage) -> Move:
    """A call that goes wrong."""
    culprit: Arguments = {name: arguments[name] for name in change}
    result = stage.world.fail(tool, culprit or arguments, code)
    return Move(speaker="calls", calls=(SimulatedCall(tool=tool.name, arguments=arguments, result=result),))


def tells_error(tool: Tool, failed: Move, change: Arguments, acts: tuple[str, ...]) -> Move:
    """What went wrong, and whether another value would do where one can be given."""
    result: JsonValue = failed.calls[0].result
    told = str(value_at(result, "error.message"))
    part = Part(tool=tool.key)
    return Move.model_validate(
        {
            "speaker": "agent",
            "intent": "tell_error",
            "parts": (part,),
            "asked": tuple(change),
            "error": told,
            "acts": acts,
        }
    )
