"""Calls as candidates make them and as the gold has them; reading what may be anything."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from callwright.validators.metrics.complexeval.rules import Mistake
from callwright.warehouse.records import Call, EvalMode, Exchange, Sample, Tool

_DEEPEST = 100  # beyond it comparing two values may outgrow the interpreter's stack
_PUBLISHED: Mapping[str, Callable[[JsonValue], bool]] = {  # object and integer pass unchecked, a boolean is a number
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}
_TYPES: Mapping[str, Callable[[JsonValue], bool]] = {
    **_PUBLISHED,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or _is_whole(value),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


class CandidateCall(NamedTuple):
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
            calls = tuple(call.bare for call in turn.calls)
            steps.append(Exchange(calls=calls, responses=following.results))
    return tuple(steps)


def read_call(made: CandidateCall, names: Iterable[str]) -> Call | str:
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


def check_format(call: Call, tools: Mapping[str, Tool], mode: EvalMode) -> Mistake | None:
    """What is wrong with the form of a call, the first of it; None where nothing is. `tools` are by name."""
    tool = tools.get(call.tool)
    if tool is None:
        offered = ", ".join(tools) or "none"
        return Mistake("unknown_function", "", f"There is no function {call.tool!r}. The functions are: {offered}.")
    missing = next((name for name in tool.required if name not in call.arguments), None)
    if missing is not None:
        return Mistake(
            "missing_required_parameter", missing, f"{call.tool} needs the parameter {missing!r}; give it a value."
        )
    declared = tool.properties
    unknown = next((name for name in call.arguments if name not in declared), None)
    if unknown is not None:
        known = ", ".join(declared) or "none"
        return Mistake(
            "unknown_parameter", unknown, f"{call.tool} has no parameter {unknown!r}. Its parameters are: {known}."
        )
    for name, value in call.arguments.items():
        wanted = declared[name].get("type") if isinstance(declared[name], dict) else None
        if not _has_type(value, wanted, mode):
            reason = f"The parameter {name!r} of {call.tool} must be of the type {_type_words(wanted)}."
            return Mistake("wrong_parameter_type", name, reason)
    return None


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


def _has_type(value: JsonValue, wanted: JsonValue, mode: EvalMode) -> bool:
    if mode == "as_published_code":
        return not (isinstance(wanted, str) and wanted in _PUBLISHED) or _PUBLISHED[wanted](value)
    accepted = [name for name in (wanted if isinstance(wanted, list) else [wanted]) if isinstance(name, str)]
    return not accepted or any(name not in _TYPES or _TYPES[name](value) for name in accepted)


def _is_whole(value: JsonValue) -> bool:
    return isinstance(value, float) and value.is_integer()


def _type_words(wanted: JsonValue) -> str:
    return " or ".join(str(name) for name in wanted) if isinstance(wanted, list) else str(wanted)
