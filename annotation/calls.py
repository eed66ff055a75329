"""Names, values and calls as lines that people read and type, and the changes between snapshots."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import orjson
from jsonschema.exceptions import best_match
from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from callwright.annotation.screens import SampleScreenWords
from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.tools import value_validator
from callwright.language.packs import signs
from callwright.warehouse.errors import RecordError
from callwright.warehouse.json_text import read_json as read_exactly
from callwright.warehouse.records import (
    Arguments,
    Call,
    CallTurn,
    GoldCall,
    JsonSchema,
    ResultTurn,
    Sample,
    Tool,
)

_LITERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null", re.ASCII)
_OPENS_JSON = ('"', "[", "{")
_RESULT_SHOWN = 80
_ENDS_A_NAME = frozenset(signs("=]"))
Sign = Literal["+", "~", "-"]


def write_value(value: JsonValue) -> str:
    """Return the value on one line: an unambiguous text as it is, anything else as JSON."""
    if isinstance(value, str) and _is_plain(value) and not _LITERAL.fullmatch(value):
        return value
    return _write_json(value)


def write_result(turn: ResultTurn) -> str:
    """Return the short text that stands for a turn's results in the lines; it is not editable."""
    return shortened(write_value(list(turn.results)), _RESULT_SHOWN)


def write_calls(calls: Sequence[Call | GoldCall]) -> str:
    """Return the calls as people read and edit them: an indented JSON list."""
    value = [{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls]
    return json.dumps(value, ensure_ascii=False, indent=2)


def read_value(typed: str, schema: JsonSchema) -> JsonValue:
    """Return the typed value; a bare 19 is a text where `schema` allows only texts.

    Raises RecordError for a value that can't be read.
    """
    is_number = _LITERAL.fullmatch(typed) and schema.get("type") != "string"
    if is_number or typed.startswith(_OPENS_JSON):
        return read_json(typed, f"The value {typed[:60]}")
    return typed


def write_name(name: str) -> str:
    """Return a name for use on one line, in quotation marks if it contains special characters."""
    return name if _is_plain(name) and not _ENDS_A_NAME.intersection(name) else _write_json(name)


def read_name(typed: str) -> tuple[str, str]:
    """Split a line into its leading name and the rest. RecordError for an unclosed quote."""
    if not typed.startswith('"'):
        end = next((at for at, letter in enumerate(typed) if letter in _ENDS_A_NAME), len(typed))
        return typed[:end].strip(), typed[end:]
    try:
        name, end = json.JSONDecoder().raw_decode(typed)
    except json.JSONDecodeError as error:
        raise RecordError(f"The name {typed[:60]} has no closing quotation mark.") from error
    return str(name), typed[end:].lstrip()


def read_json(text: str, what: str) -> JsonValue:
    """Parse typed JSON, strictly enough to store it; RecordError says what is wrong in `what`."""
    try:
        return read_exactly(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        problem = f"{what} is not valid JSON: {error.msg} in {place}."
        raise RecordError(problem) from error
    except ValueError as error:
        raise RecordError(f"{what} can't be read: {error}.") from error


def check_storable(value: object, what: str) -> None:
    """Raise RecordError if the warehouse can't store `value`."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise RecordError(f"{what} can't be stored: {error}.") from error


def _is_plain(text: str) -> bool:
    """Whether a text box returns the text without losing or misreading any character."""
    is_bare = text == text.strip() and not text.startswith(_OPENS_JSON)
    return bool(text) and is_bare and text.isprintable()


def _write_json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


class ArgumentChange(NamedTuple):
    """An argument that was added (+), changed (~) or removed (-)."""

    sign: Sign
    name: str
    old: JsonValue = None
    new: JsonValue = None


def changes(before: GoldCall, after: GoldCall) -> list[ArgumentChange]:
    """Return how the arguments change from `before` to `after`, in its order, removed ones last."""
    argument_changes: list[ArgumentChange] = []
    for name, value in after.arguments.items():
        if name not in before.arguments:
            argument_changes.append(ArgumentChange("+", name, new=value))
        elif not is_same(before.arguments[name], value):
            argument_changes.append(ArgumentChange("~", name, before.arguments[name], value))
    gone = ((name, old) for name, old in before.arguments.items() if name not in after.arguments)
    return argument_changes + [ArgumentChange("-", name, old) for name, old in gone]


def is_same(one: object, other: object) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def same_calls(one: Sequence[Call | GoldCall], other: Sequence[Call | GoldCall]) -> bool:
    """Whether two lists contain the same calls, whatever their evidence."""
    return is_same(*([[call.tool, call.arguments] for call in calls] for calls in (one, other)))


def goes_on(before: CallTurn | None, after: CallTurn) -> bool:
    """Whether `after` can be shown as changes: same tools, and no call executed before or in it."""
    if before is None or before.executed or after.executed or not after.calls:
        return False
    return [call.tool for call in before.calls] == [call.tool for call in after.calls]


def render_snapshot(before: CallTurn | None, after: CallTurn, words: SampleScreenWords) -> str:
    """Return one line that shows what is new in this snapshot."""
    if not after.calls:
        return words.no_call
    if before is None or not goes_on(before, after):
        return "  |  ".join(_render_call(call, words) for call in after.calls)
    pairs = list(zip(before.calls, after.calls, strict=True))
    rendered = []
    for old, new in (pair for pair in pairs if not same_calls(pair[:1], pair[1:])):
        told = "   ".join(map(_render_change, changes(old, new)))
        rendered.append(f"{write_name(new.tool)}   {told}" if len(pairs) > 1 else told)
    return "  |  ".join(rendered) or words.no_change


def shift_turn(sample: Sample) -> int | None:
    """Return the index of the call turn at which the user's shift takes effect, or None.

    A sample records its shift; an imported one doesn't, so there the first visible change of
    mind counts. A value from a message is marked by the message, and is no change of mind.
    """
    if traits_of(sample.kind).shift == "message":
        return None
    turns = sample.call_turns
    for number in sample.facts.shifts:
        return turns[number][0] if number < len(turns) else None
    found = (
        place for (_, before), (place, after) in pairwise(turns) if _changes_mind(before, after)
    )
    return next(found, None)


def _changes_mind(before: CallTurn, after: CallTurn) -> bool:
    if before.executed or after.executed:
        return False
    if before.calls and not after.calls:
        return True
    pairs = zip(before.calls, after.calls, strict=True)
    found = (change for old, new in pairs for change in changes(old, new))
    return goes_on(before, after) and any(change.sign != "+" for change in found)


def _render_call(call: GoldCall, words: SampleScreenWords) -> str:
    arguments = [
        f"+ {write_name(name)} = {write_value(value)}" for name, value in call.arguments.items()
    ]
    return "   ".join([write_name(call.tool), *(arguments or [words.no_arguments])])


def _render_change(change: ArgumentChange) -> str:
    name = write_name(change.name)
    match change.sign:
        case "+":
            return f"+ {name} = {write_value(change.new)}"
        case "~":
            return f"~ {name}: {write_value(change.old)} → {write_value(change.new)}"
        case "-":
            return f"- {name}"


def leaves_out(calls: Sequence[GoldCall], tools: Sequence[Tool]) -> bool:
    """Whether any of the calls lacks a required argument."""
    required = {tool.name: set(tool.required) for tool in tools}
    return any(required.get(call.tool, set()) - set(call.arguments) for call in calls)


def tool_named(name: object, tools: Sequence[Tool]) -> Tool:
    """Return the candidate with this name. Raises RecordError that lists the candidates."""
    named_tool = next((tool for tool in tools if tool.name == name), None)
    if named_tool is None:
        known = ", ".join(tool.name for tool in tools)
        raise RecordError(f"{_short(name)} is not an offered tool. The offered tools are {known}.")
    return named_tool


def check_arguments(tool: Tool, arguments: Arguments, *, may_leave_out: bool) -> None:
    """Raise RecordError if `tool` does not accept the arguments; unknown values may be anything."""
    unknown = [name for name in arguments if name not in tool.properties]
    if unknown:
        known = ", ".join(tool.properties) or "none"
        raise RecordError(
            f"{tool.name} has no parameter {unknown[0]!r}; its parameters are {known}."
        )
    try:
        errors = [
            error
            for error in value_validator(tool.parameters).iter_errors(arguments)
            if error.instance != UNKNOWN
            and not (may_leave_out and error.validator == "required" and not error.absolute_path)
        ]
    except (RecordError, Unresolvable, RecursionError):
        # an imported schema that is itself broken is the catalog's problem; the checks will say so
        return
    worst = best_match(errors)
    if worst is not None:
        place = ".".join(map(str, worst.absolute_path))
        raise RecordError(f"{tool.name}{f', {place}' if place else ''}: {worst.message[:300]}.")


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:120]


def plain_lines(text: str) -> str:
    """Return the text as a text box does: with one kind of line end and stripped."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def shortened(text: str, most: int) -> str:
    """Return the text, cut after `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"
