"""What reading a reply yields, in whatever style it was written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from callwright.warehouse.records import Arguments


class ReplyCall(NamedTuple):
    """A call as a reply has it; `tool` is a string in any call that could be made."""

    tool: JsonValue
    arguments: Arguments


class ParsedReply(NamedTuple):
    """The calls of a reply: none where it makes none, None where it can't be read; `problem` then says why."""

    calls: tuple[ReplyCall, ...] | None
    problem: str = ""


def unreadable(problem: str) -> ParsedReply:
    """A reply that can't be read, with the reason as a sentence."""
    return ParsedReply(None, problem)


LONGEST = 100_000
_TRIES = 64
_OPENERS = re.compile(r"[{\[]")
TRACE_OF_A_CALL = re.compile(r"""["']?(?:name|function|tool_calls?)["']?\s*:""", re.IGNORECASE)
_NAMES = ("name", "tool")
_ARGUMENTS = ("arguments", "parameters")
_WRAPPERS = ("tool_calls", "function", "function_call")


def parse_lenient(text: str) -> ParsedReply:
    """The calls that a reply makes, in its order."""
    if not text.strip():
        return unreadable("The reply is empty.")
    if len(text) > LONGEST:
        return unreadable(f"The reply has {len(text)} characters; up to {LONGEST} are read.")
    calls: list[ReplyCall] = []
    for value in _json_values(text):
        calls.extend(calls_in(value))
    nameless = [call for call in calls if not isinstance(call.tool, str) or not call.tool.strip()]
    if nameless:
        return unreadable(f"The reply calls {nameless[0].tool!r}, which is no tool's name.")
    if not calls and TRACE_OF_A_CALL.search(text):
        return unreadable("The reply begins a call that is not valid JSON, or has no name.")
    return ParsedReply(tuple(calls))


def _json_values(text: str) -> Iterator[JsonValue]:
    """The objects and lists that stand in the text, outermost first; what opens and isn't JSON is passed over."""
    decoder, position = json.JSONDecoder(), 0
    for _ in range(_TRIES):
        opener = _OPENERS.search(text, position)
        if opener is None:
            return
        position = opener.end()
        try:
            _, end = decoder.raw_decode(text, opener.start())
            # read again by the stricter parser: no NaN, no lone surrogates, no numbers that the store could not keep
            value = orjson.loads(text[opener.start() : end])
        except (ValueError, RecursionError):
            continue
        position = end
        yield value


def calls_in(value: JsonValue) -> list[ReplyCall]:
    """The calls that a JSON value holds, however it wraps them."""
    if isinstance(value, list):
        return [call for member in value for call in calls_in(member)]
    if not isinstance(value, dict):
        return []
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), dict | list):
            return calls_in(value[wrapper])
    name_word = next((word for word in _NAMES if word in value), None)
    arguments_word = next((word for word in _ARGUMENTS if word in value), None)
    if name_word is None or (arguments_word is None and len(value) > 1):
        return []
    return [ReplyCall(value[name_word], _arguments(value.get(arguments_word or "")))]


def _arguments(value: JsonValue) -> Arguments:
    """The arguments, also where they come as a JSON string; what is no object says nothing."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, dict) else {}
