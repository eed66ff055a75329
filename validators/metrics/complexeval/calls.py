"""Calls by candidates and in the gold, read from values of any form."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from callwright.validators.metrics.complexeval.rules import Mistake
from callwright.warehouse.records import Call, EvalMode, Exchange, Sample, Tool

_DEEPEST = 100  # beyond it comparing two values may outgrow the interpreter's stack
# object and integer pass unchecked, a boolean is a number
_PUBLISHED: Mapping[str, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}
_TYPES: Mapping[str, Callable[[JsonValue], bool]] = {
    **_PUBLISHED,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and value // 1 == value
    ),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


class CandidateCall(NamedTuple):
    """A call by a candidate: `arguments` are what it gave, or the JSON text of that."""

    tool: str
    arguments: JsonValue


class GoldenCall(NamedTuple):
    """A gold call, the response recorded for it, and its place in the path."""

    call: Call
    response: JsonValue
    step: int
    place: int


def golden_calls(step: Exchange, number: int) -> list[GoldenCall]:
    """Return the gold calls of step `number`."""
    pairs = zip(step.calls, step.responses, strict=True)
    return [
        GoldenCall(call, response, number, place) for place, (call, response) in enumerate(pairs)
    ]


def chain_of(sample: Sample) -> tuple[Exchange, ...]:
    """Return the gold path of a multi-step sample: its call turns with the results after them."""
    steps = []
    for turn, following in pairwise(sample.turns):
        if turn.kind == "calls" and turn.calls and following.kind == "result":
            calls = tuple(call.bare for call in turn.calls)
            steps.append(Exchange(calls=calls, responses=following.results))
    return tuple(steps)


def read_call(made: CandidateCall, names: Iterable[str]) -> Call | str:
    """Return the call made, its tool named as in `names`, or a sentence if it is unreadable."""
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
    known = list(names)
    plain = () if made.tool in known else (one for one in known if plain_name(one) == made.tool)
    try:
        call = Call(tool=next(iter(plain), made.tool), arguments=arguments)
        orjson.dumps([call.tool, arguments])
    except ValidationError:
        return "The call names no function."
    except orjson.JSONEncodeError as error:
        return f"The call of {made.tool!r} can't be written as JSON: {error}."
    return call


def check_format(call: Call, tools: Mapping[str, Tool], mode: EvalMode) -> Mistake | None:
    """Return the first mistake in the form of a call, or None if there is none.

    `tools` are by name.
    """
    tool = tools.get(call.tool)
    if tool is None:
        offered = ", ".join(tools) or "none"
        return Mistake(
            "unknown_function",
            "",
            f"There is no function {call.tool!r}. The functions are: {offered}.",
        )
    missing = next((name for name in tool.required if name not in call.arguments), None)
    if missing is not None:
        reason = f"{call.tool} needs the parameter {missing!r}; give it a value."
        return Mistake("missing_required_parameter", missing, reason)
    declared = tool.properties
    unknown = next((name for name in call.arguments if name not in declared), None)
    if unknown is not None:
        reason = (
            f"{call.tool} has no parameter {unknown!r}. Its parameters are:"
            f" {', '.join(declared) or 'none'}."
        )
        return Mistake("unknown_parameter", unknown, reason)
    for name, value in call.arguments.items():
        wanted = declared[name].get("type") if isinstance(declared[name], dict) else None
        if not _has_type(value, wanted, mode):
            words = " or ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted)
            reason = f"The parameter {name!r} of {call.tool} must be of the type {words}."
            return Mistake("wrong_parameter_type", name, reason)
    return None


def plain_name(name: str) -> str:
    """Return a tool's name as shown to models: letters, digits, _ and -, all else replaced by -."""
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "-"
        for letter in name
    )


def sorted_call(call: Call) -> Call:
    """Return the same call with its arguments in the order of their names."""
    return Call(tool=call.tool, arguments=dict(sorted(call.arguments.items())))


def call_text(call: Call) -> str:
    """Return a call as one line of JSON, with its arguments in their given order."""
    return json.dumps({"name": call.tool, "arguments": call.arguments}, ensure_ascii=False)


def is_same_call(one: Call, other: Call) -> bool:
    """Whether both call the same function with equal arguments."""
    return one.tool == other.tool and is_equal(one.arguments, other.arguments)


def is_equal(one: JsonValue, other: JsonValue) -> bool:
    """Whether two JSON values are equal in Python: 1 is 1.0; too deep values are unequal."""
    try:
        return one == other
    except RecursionError:
        return False


def _is_deep(value: JsonValue) -> bool:
    level: Sequence[JsonValue] = [value]
    for _ in range(_DEEPEST):
        members = (
            one.values() if isinstance(one, dict) else one
            for one in level
            if isinstance(one, list | dict)
        )
        level = list(chain.from_iterable(members))
        if not level:
            return False
    return True


def _has_type(value: JsonValue, wanted: JsonValue, mode: EvalMode) -> bool:
    if mode == "as_published_code":
        return not (isinstance(wanted, str) and wanted in _PUBLISHED) or _PUBLISHED[wanted](value)
    accepted = [
        name for name in (wanted if isinstance(wanted, list) else [wanted]) if isinstance(name, str)
    ]
    return not accepted or any(name not in _TYPES or _TYPES[name](value) for name in accepted)
