"""The typed value that some words state for a schema."""

import re
from collections.abc import Callable

from pydantic import JsonValue

from llm.language.booleans import read_boolean
from llm.language.dates import DATE, find_dates
from llm.language.folding import fold
from llm.language.found import VERBATIM, Found
from llm.language.kinds import Kind, choices_of, kind_of
from llm.language.locating import locate
from llm.language.numbers import PERCENT, find_numbers
from llm.language.times import HALF_DAY, find_times
from warehouse.records import JsonSchema

_SEPARATORS = re.compile(r"\s*(?:,\s*and\s|[,、，;；]|\band\b|和|以及|\n)\s*")
_QUOTES = " \t\n\"'“”‘’「」《》"


def read_value(words: str, schema: JsonSchema) -> JsonValue | None:
    """The value that `words` state for a parameter of this schema, None where they state none or several."""
    readers: dict[Kind, Callable[[str, JsonSchema], JsonValue | None]] = {
        "boolean": read_boolean,
        "integer": _read_integer,
        "number": _read_number,
        "date": _read_date,
        "time": _read_time,
        "date-time": _read_moment,
        "enum": _read_choice,
        "array": _read_list,
        "object": _read_nothing,
        "text": _read_text,
    }
    return readers[kind_of(schema)](words, schema)


def _read_text(words: str, _: JsonSchema) -> str | None:
    return words.strip(_QUOTES) or None


def _read_nothing(_words: str, _: JsonSchema) -> None:
    """Leave objects alone: their members have to be read one by one."""


def _read_date(words: str, _: JsonSchema) -> str | None:
    return _only([str(found.value) for found in find_dates(words) if found.rule in (DATE, VERBATIM)])


def _read_time(words: str, _: JsonSchema) -> str | None:
    return _only([str(found.value) for found in find_times(words) if found.rule != HALF_DAY])


def _read_moment(words: str, schema: JsonSchema) -> str | None:
    day, clock = _read_date(words, schema), _read_time(words, schema)
    return f"{day} {clock}" if day and clock else None


def _read_integer(words: str, schema: JsonSchema) -> int | None:
    number = _read_number(words, schema)
    return int(number) if number is not None and float(number).is_integer() else None


def _only(values: list[str]) -> str | None:
    return values[0] if len(set(values)) == 1 else None


def _read_number(words: str, schema: JsonSchema) -> int | float | None:
    numbers = find_numbers(words)
    if len({str(found.value) for found in numbers}) != 1:
        return None
    value = numbers[0].value
    if not isinstance(value, int | float):
        return None
    highest = schema.get("maximum")
    is_share = numbers[0].rule == PERCENT and isinstance(highest, int | float) and highest <= 1
    return round(value / 100, 12) if is_share else value


def _read_choice(words: str, schema: JsonSchema) -> JsonValue | None:
    choices: list[JsonValue] = choices_of(schema)  # type: ignore[assignment]
    plain = fold(words)
    for choice in choices:
        if isinstance(choice, str) and fold(choice) == plain:
            return choice
    said = [(choice, found) for choice in choices if (found := locate(choice, {}, words))]
    if not said:
        return None
    # "business class" says business class, not also "business"
    longest = max(said, key=lambda pair: (pair[1].end - pair[1].start, pair[1].rule == VERBATIM))
    others = [found for choice, found in said if choice != longest[0]]
    return longest[0] if all(_inside(found, longest[1]) for found in others) else None


def _inside(inner: Found, outer: Found) -> bool:
    same = (inner.start, inner.end) == (outer.start, outer.end)
    return outer.start <= inner.start and inner.end <= outer.end and not (same and inner.rule == outer.rule)


def _read_list(words: str, schema: JsonSchema) -> JsonValue | None:
    pieces = [piece for piece in _SEPARATORS.split(words.strip(_QUOTES)) if piece]
    values = [read_value(piece, schema.get("items") or {}) for piece in pieces]
    return None if not values or None in values else values
