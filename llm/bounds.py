"""The bounds of whatever comes from a model, applied before anything recursive or quadratic reads it.

Past a bound a reply is no reply: a ReplyError says which one. The ledger keeps it all the same, so that asking again costs
nothing, and the record that it was for becomes a failure that later builds go past.
"""

import re
from collections.abc import Sequence

from pydantic import JsonValue

from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call

LONGEST = 400_000  # characters
DEEPEST = 100  # brackets within brackets; orjson gives up at 254, Python's own readers at some hundreds
MOST_DIGITS = 100  # in a row; a float has 309, and Python refuses to read 4,300
MOST_CALLS = 200
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{(]|[\]})]', re.DOTALL)
_DIGITS = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_INTEGER = re.compile(r"(?<![\d.])-?\d{19,}(?![\d.eE])")
_SIGNED, _UNSIGNED = -(2**63), 2**64  # what JSON readers keep exactly


def validate_text(text: str) -> None:
    """Raise ReplyError where a text is longer, deeper nested, or has a longer number than anybody can use."""
    if len(text) > LONGEST:
        raise ReplyError(f"The reply has {len(text)} characters, and at most {LONGEST} are read.")
    if _DIGITS.search(text):
        raise ReplyError(f"The reply has a number of more than {MOST_DIGITS} digits.")
    if depth_of(text) > DEEPEST:
        raise ReplyError(f"The reply has brackets nested more than {DEEPEST} deep.")
    if text.lstrip()[:1] in {"{", "["} and any(map(_is_beyond, _INTEGER.findall(_STRING.sub('""', text)))):
        raise ReplyError("The reply has a whole number beyond 64 bits, which no JSON reader keeps exactly.")


def validate_calls(calls: Sequence[Call]) -> None:
    """Raise ReplyError where native calls are too many, or their arguments past a bound."""
    if len(calls) > MOST_CALLS:
        raise ReplyError(f"The reply has {len(calls)} calls, and at most {MOST_CALLS} are read.")
    waiting: list[tuple[JsonValue, int]] = [(call.arguments, 1) for call in calls]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise ReplyError(f"The arguments of a call are nested more than {DEEPEST} deep.")
        if isinstance(value, dict):
            waiting += [(member, depth + 1) for member in value.values()]
        elif isinstance(value, list):
            waiting += [(member, depth + 1) for member in value]
        elif isinstance(value, str):
            validate_text(value)
        elif isinstance(value, int) and not _SIGNED <= value < _UNSIGNED:
            raise ReplyError("An argument of a call is a whole number beyond 64 bits.")


def depth_of(text: str) -> int:
    """How deep brackets are nested in a text, those in JSON strings left out."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(text):
        sign = found[0]
        if sign in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in ")}]":
            depth = max(0, depth - 1)
    return deepest


def _is_beyond(digits: str) -> bool:
    return not _SIGNED <= int(digits) < _UNSIGNED
