"""Where a model's wording states a value: by its own quote, mended where it is mangled, or by what is found in its text.

Making is lenient and checking is strict: what no rule reads goes on, and a wording is asked for again only where it says
another value, or where nothing at all says this one.
"""

from datetime import UTC, datetime
from math import isclose
from typing import NamedTuple

from pydantic import JsonValue
from rapidfuzz import fuzz

from language.packs import signs
from language.readers.mentions import find_moments
from language.readers.quantities import find_quantities
from language.readers.units import unit_of
from language.schemas import kind_of
from language.values import locate
from warehouse.records import JsonSchema, Language

_ALIKE = 85.0  # of 100: a quote with a word changed or left out is still the quote
_SHORTEST = 4  # characters: anything shorter is like too much
_NOW = datetime(2000, 1, 1, tzinfo=UTC)  # days that are counted from a day that nobody knows say nothing
_YEARS = ("19", "20", "21")


class Place(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int


class Stated(NamedTuple):
    """Where a text states a value, None where nowhere, and what speaks against it, "" where nothing does."""

    place: Place | None
    problem: str = ""


def find_value(named: tuple[str, JsonValue], schema: JsonSchema, words: str, text: str, language: Language) -> Stated:
    """Where `text` states the value, by the model's quote `words` or by what readers find; a quote must not say another."""
    (name, value), quoted = named, find_quote(words, text)
    if quoted is not None:
        stated = text[quoted.start : quoted.end]
        other = "" if locate(value, schema, stated) else other_value(named, schema, stated, language)
        return Stated(quoted, other and f"the words {stated!r} say {other} for {name!r}, not {value!r}.")
    found = locate(value, schema, text)
    if found is not None:
        return Stated(Place(found.start, found.end))
    return Stated(None, f"nothing in it says {value!r} for {name!r}.")


def find_quote(words: str, text: str) -> Place | None:
    """Where a quote stands in a text: as it is, or but for case, spaces, punctuation and single words; None where nowhere."""
    words = words.strip()
    at = text.find(words) if words else -1
    if at >= 0:
        return Place(at, at + len(words))
    bare = words.strip(signs(" \t\n.,;:!?\"'()[]“”‘’{open}{close}"))
    at = text.casefold().find(bare.casefold()) if bare and len(text.casefold()) == len(text) else -1
    if at >= 0:
        return Place(at, at + len(bare))
    if not _SHORTEST <= len(bare) <= len(text):
        return None
    alike = fuzz.partial_ratio_alignment(bare.casefold(), text.casefold(), score_cutoff=_ALIKE)
    if (
        alike is None
        or len(text.casefold()) != len(text)
        or _numerals(bare) != _numerals(text[alike.dest_start : alike.dest_end])
    ):
        return None
    return _whole_words(text, alike.dest_start, alike.dest_end)


def _numerals(text: str) -> list[str]:
    """The digits of a text: a quote that differs in these is another value."""
    return [character for character in text if character.isdecimal()]


def _whole_words(text: str, start: int, end: int) -> Place:
    while start < end and not text[start].isalnum():
        start += 1
    while start and _is_of_word(text, start - 1) and _is_of_word(text, start):
        start -= 1
    while end < len(text) and _is_of_word(text, end) and _is_of_word(text, end - 1):
        end += 1
    return Place(start, end)


def _is_of_word(text: str, at: int) -> bool:
    return text[at].isascii() and text[at].isalnum()


def other_value(named: tuple[str, JsonValue], schema: JsonSchema, words: str, language: Language) -> str:
    """The one other number, day or time that the words of a quote say outright, "" where they may mean the value."""
    (name, value), kind = named, kind_of(schema)
    if kind in ("integer", "number") and isinstance(value, int | float):
        if unit_of(name, str(schema.get("description", "")), language) is not None:
            return ""  # the words may count in another unit
        return _other_number(float(value), words, language)
    if kind in ("date", "time") and isinstance(value, str):
        return _other_moment(value, words, language)
    return ""


def _other_number(value: float, words: str, language: Language) -> str:
    stated = find_quantities(words, language)
    if len(stated) != 1 or stated[0].unit is not None or stated[0].is_estimate:
        return ""
    is_all = words[stated[0].start : stated[0].end].strip() == words.strip()  # "eleven and a quarter" is read as eleven
    return "" if not is_all or isclose(stated[0].value, value) else f"{stated[0].value:g}"


def _other_moment(value: str, words: str, language: Language) -> str:
    stated = find_moments(words, language, _NOW)
    if len(stated) != 1:
        return ""
    days = {day for day in stated[0].days if day.startswith(_YEARS) and day[:4] in words}
    clocks = stated[0].clocks | {stated[0].last_clock} - {""}
    if days and not any(day in value for day in (*days, stated[0].last_day) if day) and "-" in value:
        return min(days)
    if clocks and ":" in value and not any(clock in value for clock in clocks):
        return " or ".join(sorted(clocks))
    return ""
