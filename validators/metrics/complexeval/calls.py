"""Calls as candidates make them and as the gold has them; reading what may be anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from warehouse.records import Call, Exchange

if TYPE_CHECKING:
    from warehouse.records import Sample

_DEEPEST = 100  # beyond it comparing two values may outgrow the interpreter's stack


class MadeCall(NamedTuple):
    """A call as a candidate makes it: `arguments` are what it gave, or the JSON text of that."""

    tool: str
    arguments: JsonValue


class GoldenCall(NamedTuple):
    """A gold call, the response recorded for it, and where it stands in the path."""

    call: Call
    response: JsonValue
    step: int
    place: int


def golden_calls(step: Exchange, number: int) -> list[GoldenCall]:
    """The gold calls of step `number`."""
    pairs = zip(step.calls, step.responses, strict=True)
    return [GoldenCall(call, response, number, place) for place, (call, response) in enumerate(pairs)]


def chain_of(sample: Sample) -> tuple[Exchange, ...]:
    """The gold path of a multi-step sample: its call turns with the results that follow them."""
    steps = []
    for turn, following in pairwise(sample.turns):
        if turn.kind == "calls" and turn.calls and following.kind == "result":
            calls = tuple(Call(tool=call.tool, arguments=call.arguments) for call in turn.calls)
            steps.append(Exchange(calls=calls, responses=following.results))
    return tuple(steps)


def read_call(made: MadeCall, names: Iterable[str]) -> Call | str:
    """The call that was made, its tool by the name that `names` has; a sentence where it can't be read."""
    arguments = made.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return f"The arguments of {made.tool!r} are no JSON."
    if not isinstance(arguments, dict):
        return f"The arguments of {made.tool!r} are no JSON object."
    if _is_deep(arguments):
        return f"The arguments of {made.tool!r} are nested too deep."
    try:
        call = Call(tool=_own_name(made.tool, names), arguments=arguments)
        orjson.dumps([call.tool, arguments])
    except ValidationError:
        return "The call names no function."
    except orjson.JSONEncodeError as error:
        return f"The call of {made.tool!r} can't be written as JSON: {error}."
    return call


def plain_name(name: str) -> str:
    """A tool's name as models may be shown it: letters, digits, _ and -, everything else as -."""
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "-" for letter in name)


def sorted_call(call: Call) -> Call:
    """The same call with its arguments in the order of their names."""
    return Call(tool=call.tool, arguments=dict(sorted(call.arguments.items())))


def call_text(call: Call) -> str:
    """A call as one line of JSON, its arguments in the order they have."""
    return json.dumps({"name": call.tool, "arguments": call.arguments}, ensure_ascii=False)


def is_equal(one: JsonValue, other: JsonValue) -> bool:
    """Whether two JSON values are equal as Python compares them: 1 is 1.0; what is too deep to compare is not equal."""
    try:
        return one == other
    except RecursionError:
        return False


def _own_name(name: str, names: Iterable[str]) -> str:
    known = list(names)
    if name in known:
        return name
    return next((one for one in known if plain_name(one) == name), name)


def _is_deep(value: JsonValue) -> bool:
    level: Sequence[JsonValue] = [value]
    for _ in range(_DEEPEST):
        level = [
            member
            for one in level
            if isinstance(one, list | dict)
            for member in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
