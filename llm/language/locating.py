"""Where a text says a value: by exact span, or by a normalisation that has a name."""

from functools import lru_cache

from pydantic import JsonValue

from llm.language.booleans import find_boolean
from llm.language.dates import find_dates
from llm.language.digits import NUMBER
from llm.language.folding import fold
from llm.language.found import VERBATIM, Found
from llm.language.kinds import DATE_TIME_VALUE, DATE_VALUE, TIME_VALUE
from llm.language.moments import find_figures, find_moment, find_month, find_same_moment, says_date, says_time
from llm.language.numbers import PERCENT, find_numbers, same_number
from llm.language.phrases import find_phrase
from llm.language.places import find_place
from llm.language.shortening import find_shortened
from llm.language.times import find_times
from llm.language.units import find_converted
from llm.language.wording import find_wording
from warehouse.records import JsonSchema

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
        said = float(str(found.value))
        if same_number(said, value) or (found.rule == PERCENT and same_number(said / 100, value)):
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
