"""JSON read exactly or not at all; what would be changed raises ValueError with the reason.

Readers differ in what they do with a whole number beyond 64 bits (it becomes a float), a key
that appears twice (the last one wins), NaN, and half of a character. Nothing of this is guessed
here. Everything that reads other people's JSON uses this: files, models' replies, and what
people type.
"""

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, NoReturn

import orjson

if TYPE_CHECKING:
    from pydantic import JsonValue

DEEPEST = 64  # lists and objects inside each other
INTEGERS = range(-(2**63), 2**64)  # what the warehouse and the readers of exports keep exactly
_MOST_DIGITS = 20  # of a whole number within 64 bits
_SHOWN = 40
_TOO_DEEP = f"it is nested too deeply, more than {DEEPEST} levels"
_HALF = re.compile("[\ud800-\udfff]")


def read_json(text: str) -> "JsonValue":
    """Return the value of a JSON text.

    Raises ValueError if it is not JSON, is nested too deep, or cannot be stored exactly.
    """
    try:
        value: JsonValue = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if depth(value) > DEEPEST:
        raise ValueError(_TOO_DEEP)
    return keepable(value)


def depth(value: "JsonValue") -> int:
    """Return how deep lists and objects are nested, counted without recursion."""
    level, layer = 0, [value]
    while layer:
        inside: list[JsonValue] = []
        for item in layer:
            if isinstance(item, dict):
                inside.extend(item.values())
            elif isinstance(item, list):
                inside.extend(item)
        level, layer = level + 1, inside
    return level


def keepable(value: "JsonValue") -> "JsonValue":
    """Return the value if it has no lone surrogates and no numbers that the store cannot keep.

    Raises ValueError.
    """
    try:
        orjson.dumps(value)
    except TypeError as error:
        half = "surrogates" in str(error) and _HALF.search(json.dumps(value, ensure_ascii=False))
        problem = f"it has half of a character, \\u{ord(half[0]):04x}" if half else str(error)
        raise ValueError(problem) from error
    return value


def members_once(pairs: "list[tuple[str, JsonValue]]") -> "dict[str, JsonValue]":
    """Return the members of an object. Raise ValueError if a key has two different values."""
    members = dict(pairs)
    if len(members) < len(pairs):
        first: dict[str, JsonValue] = {}
        for name, value in pairs:
            known = keepable(first.setdefault(name, value))
            if known is not value and orjson.dumps(known) != orjson.dumps(value):
                raise ValueError(f"the key {name[:_SHOWN]!r} is given twice, with different values")
    return members


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) <= _MOST_DIGITS and (number := int(digits)) in INTEGERS:
        return number
    shown = digits if len(digits) <= _SHOWN else f"{digits[:_SHOWN]}…"
    problem = f"the whole number {shown} is beyond 64 bits, so that it can't be kept exactly"
    raise ValueError(problem)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:_SHOWN]} is not a number that JSON can hold")
    return number


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that JSON can hold")


def _decoder(*, strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=members_once,
        parse_int=_integer,
        parse_float=_finite,
        parse_constant=_no_number,
        strict=strict,
    )


_DECODER = _decoder(strict=True)
# Lines may break within a string that a model wrote: where it ends is plain all the same.
REPLY_DECODER = _decoder(strict=False)
