"""Values in words: where a text states a value, which value some words state, and how a person states it."""

import re
from collections.abc import Callable
from functools import lru_cache
from random import Random

from pydantic import JsonValue

from callwright.language.booleans import find_boolean, read_boolean, write_boolean
from callwright.language.dates import DATE, find_dates, write_date
from callwright.language.numbers import PERCENT, find_converted, find_numbers, in_digits, same_number, write_number
from callwright.language.packs import LanguagePattern, of, signs
from callwright.language.phrases import find_phrase, find_place
from callwright.language.protocol import NUMBER
from callwright.language.readers.moments import (
    HALF_DAY,
    find_figures,
    find_moment,
    find_month,
    find_same_moment,
    find_times,
    says_date,
    says_time,
    write_moment,
    write_time,
)
from callwright.language.schemas import DATE_TIME_VALUE, DATE_VALUE, TIME_VALUE, Kind, choices_of, kind_of
from callwright.language.text import VERBATIM, Found, fold
from callwright.language.wording import find_shortened, find_wording
from callwright.warehouse.records import JsonSchema, Language

LIST = "list"
OBJECT = "object"


def locate(value: JsonValue, schema: JsonSchema, text: str) -> Found | None:
    """Where `text` says `value`: `rule` is "" for the very letters, else the name of the normalisation."""
    if isinstance(value, bool):
        return find_boolean(value, schema, text)
    if isinstance(value, int | float):
        return locate_number(value, schema, text)
    if isinstance(value, str):
        return locate_text(value, text) or find_shortened(value, _topic(schema), text)
    if isinstance(value, list):
        return _locate_all(value, [(item, schema.get("items") or {}) for item in value], text, LIST)
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        named = [(item, {"title": name, **(members.get(name) or {})}) for name, item in value.items()]
        return _locate_all(value, named, text, OBJECT)
    return None


def _topic(schema: JsonSchema) -> str:
    return f"{fold(str(schema.get('title', '')))} {schema.get('description', '')}"


def locate_number(value: float, schema: JsonSchema, text: str) -> Found | None:
    """Where `text` says the number `value`, as such, as a percentage or in another unit."""
    for found in find_numbers(text):
        stated = float(str(found.value))
        if same_number(stated, value) or (found.rule == PERCENT and same_number(stated / 100, value)):
            return Found(value, found.start, found.end, found.rule)
    return find_converted(value, schema, text)


@lru_cache(16384)
def locate_text(value: str, text: str) -> Found | None:
    """Where `text` says the string `value`; a date or a time is compared by what it means."""
    return (
        _locate_typed(value, text)
        or find_phrase(value, text)
        or find_same_moment(value, text)
        or find_figures(value, text)
        or find_month(value, text)
        or _locate_numeral(value, text)
        or find_place(value, text)
        or find_wording(value, text)
    )


def _locate_typed(value: str, text: str) -> Found | None:
    if DATE_VALUE.fullmatch(value):
        return next((_as(value, found) for found in find_dates(text) if says_date(value, found)), None)
    if TIME_VALUE.fullmatch(value):
        return next((_as(value, found) for found in find_times(text) if says_time(value, found)), None)
    if DATE_TIME_VALUE.fullmatch(value):
        return find_moment(value, text)
    return None


def _locate_numeral(value: str, text: str) -> Found | None:
    """A string that is nothing but a number, wherever the text says that number."""
    numbers = find_numbers(value)
    if len(numbers) != 1 or (numbers[0].start, numbers[0].end) != (0, len(value)):
        return None
    found = next((one for one in find_numbers(text) if one.value == numbers[0].value), None)
    return found and Found(value, found.start, found.end, found.rule or NUMBER)


def _as(value: str, found: Found) -> Found:
    return Found(value, found.start, found.end, found.rule)


def _locate_all(value: JsonValue, parts: list[tuple[JsonValue, JsonSchema]], text: str, rule: str) -> Found | None:
    hits = [locate(part, schema, text) for part, schema in parts]
    found = [hit for hit in hits if hit is not None]
    if not found or len(found) < len(hits):
        return None
    same = len(found) == 1 and found[0].rule == VERBATIM
    return Found(value, min(hit.start for hit in found), max(hit.end for hit in found), VERBATIM if same else rule)


_SEPARATORS = LanguagePattern(r"\s*(?:@{list_comma_joint}|@[,;{list}]|@{list_joint}|\n)\s*", re.RegexFlag(0))
_QUOTES = signs(" \t\n\"'“”‘’{open}{close}")


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
    stated = [(choice, found) for choice in choices if (found := locate(choice, {}, words))]
    if not stated:
        return None
    # "business class" says business class, not also "business"
    longest = max(stated, key=lambda pair: (pair[1].end - pair[1].start, pair[1].rule == VERBATIM))
    others = [found for choice, found in stated if choice != longest[0]]
    return longest[0] if all(_inside(found, longest[1]) for found in others) else None


def _inside(inner: Found, outer: Found) -> bool:
    same = (inner.start, inner.end) == (outer.start, outer.end)
    return outer.start <= inner.start and inner.end <= outer.end and not (same and inner.rule == outer.rule)


def _read_list(words: str, schema: JsonSchema) -> JsonValue | None:
    pieces = [piece for piece in _SEPARATORS.of(words).split(words.strip(_QUOTES)) if piece]
    values = [read_value(piece, schema.get("items") or {}) for piece in pieces]
    return None if not values or None in values else values


_LETTER_CASES = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)+|[A-Z]{5,}|[a-z]+(?:[A-Z][a-z]+)+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]")


def write_value(value: JsonValue, schema: JsonSchema, language: Language, rng: Random) -> str:
    """`value` as a person would say it for a parameter of this schema."""
    if isinstance(value, bool):
        return write_boolean(value, schema, language)
    if isinstance(value, int | float):
        return _write_number(value, schema, language, rng)
    if isinstance(value, str):
        return _write_text(value, schema, language, rng)
    if isinstance(value, list):
        return _write_list([_write_item(item, schema.get("items") or {}, language, rng) for item in value], language)
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        stated = [f"{name} {write_value(item, members.get(name) or {}, language, rng)}" for name, item in value.items()]
        return _write_list(stated, language)
    return of(language).nothing


def _write_item(value: JsonValue, schema: JsonSchema, language: Language, rng: Random) -> str:
    # "a hundred and two" would be one number, so numbers stand in digits where words may join them
    if of(language).rules.JOINS_NUMBERS and isinstance(value, int | float) and not isinstance(value, bool):
        return in_digits(value)
    return write_value(value, schema, language, rng)


def _write_number(value: float, schema: JsonSchema, language: Language, rng: Random) -> str:
    share = schema.get("maximum")
    percent = round(value * 100, 6)
    if isinstance(share, int | float) and share <= 1 and 0 < value < 1 and percent.is_integer() and rng.randrange(2):
        return f"{int(percent)}%"
    return write_number(value, language, rng)


def _write_text(value: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    kind = kind_of(schema)
    if kind == "date" and DATE_VALUE.fullmatch(value):
        return write_date(value, language, rng)
    if kind == "time" and TIME_VALUE.fullmatch(value):
        return write_time(value, language, rng)
    if kind == "date-time" and DATE_TIME_VALUE.fullmatch(value):
        return write_moment(value, language, rng)
    if kind == "enum" and _LETTER_CASES.fullmatch(value):
        return _CAMEL.sub(" ", value).lower()
    return value


def _write_list(stated: list[str], language: Language) -> str:
    if len(stated) <= 1:
        return stated[0] if stated else of(language).nothing
    pack = of(language)
    return pack.comma.join(stated[:-1]) + pack.last + stated[-1]
