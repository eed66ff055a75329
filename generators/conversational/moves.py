"""From episodes to moves: who says, asks, calls and tells what, all but the words (CONFETTI 3.1)."""

from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from generators.conversational.facts import facts_of
from generators.conversational.scenarios import changeable
from generators.conversational.values import Values
from generators.environments.simulated import SimulatedEnvironment, links_between
from generators.paths.picking import value_at
from generators.schemas import argument_problems
from warehouse.errors import RecordError
from warehouse.records import (
    Arguments,
    Episode,
    EpisodeShape,
    ErrorCode,
    Fact,
    JsonSchema,
    Move,
    Part,
    SimulatedCall,
    Tool,
)

_TOLD = 2
_TWO_MISSING_SHARE = 0.3
_RETRIED: tuple[ErrorCode, ...] = ("not_found", "invalid_value", "conflict")
_FAILED: tuple[ErrorCode, ...] = ("unavailable", "not_found", "conflict")


class Stage(NamedTuple):
    """What the episodes of a conversation are made with."""

    tools: Mapping[str, Tool]
    values: Values
    world: SimulatedEnvironment
    rng: Random


Moves = list[Move]


async def moves_of(episode: Episode, stage: Stage) -> Moves:
    """The moves of an episode. Raises RecordError where its tools do not allow it, ReplyError where values don't fit."""
    return await _MAKERS[episode.shape](episode, stage)


async def _plain(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage)
    return [_asks(Part(tool=tool.key, arguments=arguments)), *_served(tool, arguments, stage)]


async def _described(episode: Episode, stage: Stage) -> Moves:
    opening, *rest = await _plain(episode, stage)
    return [opening.with_changes(intent="describe"), *rest]


async def _underfilled(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage)
    possible = changeable(tool)
    count = 2 if len(possible) > 1 and stage.rng.random() < _TWO_MISSING_SHARE else 1
    missing = [name for name in tool.required if name in stage.rng.sample(possible, count)]
    given = {name: value for name, value in arguments.items() if name not in missing}
    later = {name: arguments[name] for name in missing}
    return [
        _asks(Part(tool=tool.key, arguments=given)),
        _seeks(tool, given, missing),
        Move(speaker="user", intent="answer", parts=(Part(tool=tool.key, arguments=later),)),
        *_served(tool, arguments, stage),
    ]


async def _confirmed(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage, optional=0)
    part = Part(tool=tool.key, arguments=arguments)
    approval = Move(speaker="agent", intent="ask_approval", parts=(part,), acts=("seek",))
    return [_asks(part), approval, Move(speaker="user", intent="approve"), *_served(tool, arguments, stage)]


async def _switched(episode: Episode, stage: Stage) -> Moves:
    dropped, wanted = (stage.tools[key] for key in episode.tools)
    first = await stage.values.fill(dropped, dropped.required)
    missing = stage.rng.choice(changeable(dropped))
    given = {name: value for name, value in first.items() if name != missing}
    second = await stage.values.fill(wanted, wanted.required)
    turn = Move(speaker="user", intent="switch", parts=(Part(tool=wanted.key, arguments=second),))
    return [
        _asks(Part(tool=dropped.key, arguments=given)),
        _seeks(dropped, given, [missing]),
        turn,
        *_served(wanted, second, stage),
    ]


async def _corrected(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage)
    change = await _change(tool, arguments, stage)
    correction = Move(speaker="user", intent="correct", parts=(Part(tool=tool.key, arguments=change),))
    return [
        _asks(Part(tool=tool.key, arguments=arguments)),
        *_served(tool, arguments, stage),
        correction,
        *_served(tool, arguments | change, stage),
    ]


async def _excepted(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage)
    change = await _change(tool, arguments, stage)
    failed = _failing(tool, arguments, change, stage.rng.choice(_RETRIED), stage)
    return [
        _asks(Part(tool=tool.key, arguments=arguments)),
        failed,
        _tells_error(tool, failed, change, ("inform", "seek")),
        Move(speaker="user", intent="retry", parts=(Part(tool=tool.key, arguments=change),)),
        *_served(tool, arguments | change, stage),
    ]


async def _failed(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage)
    change = await _change(tool, arguments, stage)
    first = _failing(tool, arguments, change, stage.rng.choice(_RETRIED), stage)
    second = _failing(tool, arguments | change, change, stage.rng.choice(_FAILED), stage)
    return [
        _asks(Part(tool=tool.key, arguments=arguments)),
        first,
        _tells_error(tool, first, change, ("inform", "seek")),
        Move(speaker="user", intent="retry", parts=(Part(tool=tool.key, arguments=change),)),
        second,
        _tells_error(tool, second, {}, ("inform",)),
        Move(speaker="user", intent="give_up"),
        Move(speaker="agent", intent="acknowledge", acts=("other",)),
    ]


async def _stacked(episode: Episode, stage: Stage) -> Moves:
    parts: list[Part] = []
    calls: list[SimulatedCall] = []
    facts: list[Fact] = []
    for tool in (stage.tools[key] for key in episode.tools):
        arguments = await stage.values.fill(tool, tool.required)
        parts.append(Part(tool=tool.key, arguments=arguments))
        calls.append(_call(tool, arguments, stage))
        facts += facts_of(calls[-1].result, tool)[:1]
    return [_asks(*parts), Move(speaker="calls", calls=tuple(calls)), _informs(facts)]


async def _ambiguous(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage)
    return [
        Move(speaker="user", intent="hint", options=episode.tools),
        Move(speaker="agent", intent="ask_which", options=tuple(sorted(episode.tools)), acts=("seek",)),
        _asks(Part(tool=tool.key, arguments=arguments)),
        *_served(tool, arguments, stage),
    ]


async def _followed(episode: Episode, stage: Stage) -> Moves:
    first, second, told, linked = await _linked(episode, stage)
    before = facts_of(first.result, stage.tools[episode.tools[0]])
    known = [fact for fact in before if fact.value in linked.arguments.values()]
    question = Move(speaker="user", intent="ask_more", parts=(told,))
    return [
        _asks(second),
        Move(speaker="calls", calls=(first,)),
        _informs([*known, *(fact for fact in before if fact not in known)][:_TOLD]),
        question,
        Move(speaker="calls", calls=(linked,)),
        _informs(facts_of(linked.result, stage.tools[episode.tools[1]])[:_TOLD]),
    ]


async def _chained(episode: Episode, stage: Stage) -> Moves:
    first, request, told, linked = await _linked(episode, stage)
    facts = facts_of(linked.result, stage.tools[episode.tools[1]])[:_TOLD]
    return [
        _asks(request, told),
        Move(speaker="calls", calls=(first, linked)),
        _informs(facts),
    ]


async def _linked(episode: Episode, stage: Stage) -> tuple[SimulatedCall, Part, Part, SimulatedCall]:
    """The first call and how it is asked for, then what is said for the second, and that call with what the first gave."""
    source, tool = (stage.tools[key] for key in episode.tools)
    link = links_between(source, tool)[0]
    arguments = await stage.values.fill(source, source.required)
    # One entry only, so that nobody has to choose.
    result = stage.world.succeed(source, arguments, entries=1)
    call = SimulatedCall(tool=source.name, arguments=arguments, result=result)
    value = value_at(result, f"{link.entries}[0].{link.field}" if link.entries else link.field)
    said = await stage.values.fill(tool, [name for name in tool.required if name != link.parameter])
    due = {name: value if name == link.parameter else said[name] for name in tool.required}
    problems = argument_problems(tool, due, partial=False)
    if problems:
        raise RecordError(f"What {source.name!r} returns can't be given to {tool.name!r}: {' '.join(problems)}")
    linked = _call(tool, due, stage).with_changes(linked=(link.parameter,))
    return call, Part(tool=source.key, arguments=arguments), Part(tool=tool.key, arguments=said), linked


async def _compared(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage, optional=0)
    name = stage.rng.choice(changeable(tool))
    changes = await stage.values.others(tool, name, arguments, episode.count - 1)
    if not changes:
        raise RecordError(f"{name!r} of {tool.name!r} has no other values to compare.")
    parts = [Part(tool=tool.key, arguments=arguments), *(Part(tool=tool.key, arguments={name: one}) for one in changes)]
    calls = [_call(tool, arguments | {name: one}, stage) for one in (arguments[name], *changes)]
    facts = [fact for call in calls for fact in facts_of(call.result, tool)[:1]]
    return [_asks(*parts), Move(speaker="calls", calls=tuple(calls)), _informs(facts)]


async def _overfilled(episode: Episode, stage: Stage) -> Moves:
    opening, *rest = await _plain(episode, stage)
    tool, other = (stage.tools[key] for key in episode.tools)
    possible = [name for name in changeable(other) if name not in tool.properties]
    name = stage.rng.choice(possible)
    extra = await stage.values.fill(other, [name])
    return [opening.with_changes(extra=Part(tool=other.key, arguments=extra)), *rest]


async def _unsupported(episode: Episode, stage: Stage) -> Moves:
    tool, arguments = await _request(episode, stage, optional=0)
    return [
        _asks(Part(tool=tool.key, arguments=arguments)),
        Move(speaker="agent", intent="refuse", options=(tool.key,), acts=("reject",)),
    ]


async def _thanked(_episode: Episode, _stage: Stage) -> Moves:
    return [
        Move(speaker="user", intent="thank"),
        Move(speaker="agent", intent="acknowledge", acts=("other",)),
    ]


async def _request(episode: Episode, stage: Stage, *, optional: int = 1) -> tuple[Tool, Arguments]:
    """The episode's first tool with a value for all that it requires, and for some of what it allows."""
    tool = stage.tools[episode.tools[0]]
    more = [name for name, schema in tool.properties.items() if name not in tool.required and _is_plain(schema)]
    chosen = stage.rng.sample(more, min(len(more), stage.rng.randint(0, optional)))
    return tool, await stage.values.fill(tool, [*tool.required, *chosen])


def _is_plain(schema: JsonSchema) -> bool:
    return schema.get("type") in ("string", "integer", "number") or "enum" in schema


async def _change(tool: Tool, arguments: Arguments, stage: Stage) -> Arguments:
    """Another value for one of the arguments."""
    name = stage.rng.choice(changeable(tool))
    others = await stage.values.others(tool, name, arguments, 1)
    if not others:
        raise RecordError(f"{name!r} of {tool.name!r} has no other value than {arguments[name]!r}.")
    return {name: others[0]}


def _asks(*parts: Part) -> Move:
    return Move(speaker="user", intent="request", parts=parts)


def _seeks(tool: Tool, given: Arguments, missing: list[str]) -> Move:
    part = Part(tool=tool.key, arguments=given)
    return Move(speaker="agent", intent="ask_parameters", parts=(part,), asked=tuple(missing), acts=("seek",))


def _call(tool: Tool, arguments: Arguments, stage: Stage) -> SimulatedCall:
    return SimulatedCall(tool=tool.name, arguments=arguments, result=stage.world.succeed(tool, arguments))


def _served(tool: Tool, arguments: Arguments, stage: Stage) -> Moves:
    """The call that goes well, and the reply that tells of it."""
    call = _call(tool, arguments, stage)
    return [Move(speaker="calls", calls=(call,)), _informs(facts_of(call.result, tool)[:_TOLD])]


def _informs(facts: list[Fact]) -> Move:
    return Move(speaker="agent", intent="inform", facts=tuple(facts), acts=("inform",))


def _failing(tool: Tool, arguments: Arguments, change: Arguments, code: ErrorCode, stage: Stage) -> Move:
    culprit: Arguments = {name: arguments[name] for name in change}
    result = stage.world.fail(tool, culprit or arguments, code)
    return Move(speaker="calls", calls=(SimulatedCall(tool=tool.name, arguments=arguments, result=result),))


def _tells_error(tool: Tool, failed: Move, change: Arguments, acts: tuple[str, ...]) -> Move:
    """What went wrong, and whether another value would do where one can be given."""
    result: JsonValue = failed.calls[0].result
    told = str(value_at(result, "error.message"))
    part = Part(tool=tool.key)
    return Move.model_validate(
        {"speaker": "agent", "intent": "tell_error", "parts": (part,), "asked": tuple(change), "error": told, "acts": acts}
    )


_MAKERS: Mapping[EpisodeShape, Callable[[Episode, Stage], Awaitable[Moves]]] = {
    "plain": _plain, "implicit": _described, "underfill": _underfilled, "confirmation": _confirmed, "switch": _switched,
    "correction": _corrected, "exception": _excepted, "failed": _failed, "stacked": _stacked, "ambiguous": _ambiguous,
    "follow_up": _followed, "chained": _chained, "compared": _compared, "overfill": _overfilled,
    "unsupported": _unsupported, "thanks": _thanked,
}  # fmt: skip
