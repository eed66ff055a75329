"""Numbers for parameters: inside the schema's bounds, and of a size that the kind makes likely."""

import re
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import NamedTuple

from llm.template.kinds import type_of
from llm.template.names import split_name
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema

_LIKELY = {
    "quantity": (2, 12), "money": (20, 5000), "percent": (5, 95), "year": (2024, 2028), "rating": (1, 5),
    "age": (18, 80), "measure": (2, 120), "duration": (2, 90), "number": (2, 100),
}  # fmt: skip
_BY_NAME = (  # where a word of the name tells more than its kind
    (re.compile(r"interest"), "percent", (1, 9)),
    (re.compile(r"limit"), "money", (500, 9000)),
    (re.compile(r"salary|income|wage"), "money", (1500, 9000)),
    (re.compile(r"mortgage|property|house|loan|coverage|insured"), "money", (20000, 400000)),
    (re.compile(r"^family|^household"), "quantity", (2, 7)),
    (re.compile(r"term|tenure|month"), "duration", (6, 36)),
)
_CODES = frozenset({"id", "number", "code", "pin"})
_STEPS = {"money": 5}
_LARGE, _LARGE_STEP = 5000, 500  # nobody asks for a loan of 187,405
_DECIMAL_SHARE = 0.2
_WIDE = 1000
_MOST_STEPS = 10**9


class _Bounds(NamedTuple):
    low: Fraction
    high: Fraction
    step: Fraction


def make_number(kind: str, name: str, schema: JsonSchema, rng: Random) -> int | float:
    """A number that satisfies `schema`; ReplyError where its bounds leave none."""
    bounds = _bounds(kind, name, schema)
    step = bounds.step
    if type_of(schema) == "number" and "multipleOf" not in schema and rng.random() < _DECIMAL_SHARE:
        step = Fraction(1, 2) if bounds.high - bounds.low > 1 else Fraction(1, 20)
    if bounds.high - bounds.low < step and "multipleOf" not in schema and type_of(schema) == "number":
        step = (bounds.high - bounds.low) / 100 or Fraction(1)
    first, last = ceil(bounds.low / step), floor(bounds.high / step)
    if last < first:
        raise ReplyError(f"template/v1 finds no number between {bounds.low} and {bounds.high} for {name!r}.")
    value = step * rng.randint(first, min(last, first + _MOST_STEPS))
    return int(value) if value.denominator == 1 else float(value)


def number_text(kind: str, name: str, rng: Random) -> str:
    """A number for a parameter that is declared as text."""
    low, high = _likely(kind, name)
    step = _step(kind, low)
    return str(step * rng.randint(-(-low // step), high // step))


def _step(kind: str, low: int) -> int:
    return _LARGE_STEP if kind == "money" and low >= _LARGE else _STEPS.get(kind, 1)


def _likely(kind: str, name: str) -> tuple[int, int]:
    said = " ".join(split_name(name))
    named = (bounds for pattern, of_kind, bounds in _BY_NAME if of_kind == kind and pattern.search(said))
    return next(named, _LIKELY.get(kind, _LIKELY["number"]))


def _bounds(kind: str, name: str, schema: JsonSchema) -> _Bounds:
    likely_low, likely_high = map(Fraction, _likely(kind, name))
    if kind == "number" and _CODES.intersection(split_name(name)) and "of" not in split_name(name):
        likely_low, likely_high = Fraction(1000), Fraction(999999)
    step = _exact(schema.get("multipleOf")) or Fraction(
        _step(kind, int(likely_low)) if type_of(schema) == "number" else 1
    )
    low, high = _limit(schema, "minimum", step), _limit(schema, "maximum", -step)
    if low is None and high is None:
        return _Bounds(likely_low, max(likely_high, likely_low + step), step)
    if low is None:
        low = min(likely_low, high or likely_low) if high is None or likely_low <= high else high - _WIDE
    if high is None:
        high = likely_high if likely_high > low else low + _WIDE
    if "multipleOf" not in schema and step > (high - low) / 4:
        step = Fraction(1)
    return _Bounds(low, high, step)


def _limit(schema: JsonSchema, name: str, inwards: Fraction) -> Fraction | None:
    given = _exact(schema.get(name))
    open_end = _exact(schema.get(f"exclusive{name.capitalize()}"))
    if open_end is None:
        return given
    inside = open_end + (inwards if type_of(schema) == "integer" else inwards / 100)
    return inside if given is None else (max if inwards > 0 else min)(given, inside)


def _exact(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Fraction(str(value))
