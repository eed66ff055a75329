"""Typed values in words: how a person would say them, always in a form that can only mean this value."""

import re
from random import Random

from pydantic import JsonValue

from llm.language.booleans import write_boolean
from llm.language.dates import write_date
from llm.language.kinds import DATE_TIME_VALUE, DATE_VALUE, TIME_VALUE, kind_of
from llm.language.moments import write_moment
from llm.language.numbers import in_digits, write_number
from llm.language.times import write_time
from warehouse.records import JsonSchema, Language

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
        said = [f"{name} {write_value(item, members.get(name) or {}, language, rng)}" for name, item in value.items()]
        return _write_list(said, language)
    return {"en": "none", "zh": "无"}[language]


def _write_item(value: JsonValue, schema: JsonSchema, language: Language, rng: Random) -> str:
    # "a hundred and two" would be one number, so the numbers of an English list stand in digits
    if language == "en" and isinstance(value, int | float) and not isinstance(value, bool):
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


def _write_list(said: list[str], language: Language) -> str:
    if len(said) <= 1:
        return said[0] if said else {"en": "none", "zh": "无"}[language]
    comma, joint = (", ", " and ") if language == "en" else ("、", "和")
    return comma.join(said[:-1]) + joint + said[-1]
