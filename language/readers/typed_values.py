"""Numbers, days and times in a text of a language without a folder, as Duckling reads them.

Nothing is proved by them: they tell a model that words values whether it said another one than it was given.
"""

from collections.abc import Iterator
from datetime import datetime
from math import isclose
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.readers.duckling_reader import read
from callwright.language.readers.moments import other_half
from callwright.language.schemas import kind_of
from callwright.warehouse.records import JsonSchema

_DAY, _CLOCK = slice(0, 10), slice(11, 16)
_DAYS = frozenset({"day", "week", "month", "quarter", "year"})
_TYPED = frozenset({"integer", "number", "date", "time", "date-time"})


class TypedValue(NamedTuple):
    """A number or a moment (`YYYY-MM-DDTHH:MM`) at `start`..`end` of a text; a number has no `grain`."""

    start: int
    end: int
    value: float | str
    grain: str = ""


def find_typed_values(text: str, language: str, now: datetime) -> Iterator[TypedValue]:
    """The numbers and moments that Duckling finds; none where it does not know the language."""
    for one in read(text, language, now):
        value: Any = one.value.get("value")
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield TypedValue(one.start, one.end, float(value))
        elif one.dimension == "time" and isinstance(value, str):
            yield TypedValue(one.start, one.end, value, str(one.value.get("grain", "")))


def may_mean(found: TypedValue, value: JsonValue, text: str) -> bool:
    """Whether what was found may be `value`: a day without its year is any year's, a time without its half of the day both."""
    if isinstance(found.value, float):
        return isinstance(value, int | float) and isclose(found.value, value)
    day, clock, stated = found.value[_DAY], found.value[_CLOCK], str(value)
    words = text[found.start : found.end]
    is_day = stated.startswith(day) or (day[5:] == stated[5:10] and stated[:4] not in words)
    if found.grain in _DAYS or ":" not in stated:
        return is_day
    is_clock = any(one in stated for one in (clock, other_half(clock)))
    return is_clock and (is_day or "-" not in stated)


def is_typed(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether Duckling's readings can say anything of a value of this schema."""
    return kind_of(schema) in _TYPED and isinstance(value, int | float | str) and not isinstance(value, bool)
