"""Dates in text: absolute ones read as ISO, dates without a year, and relative days as they are stated."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from random import Random
from typing import NamedTuple

from callwright.language.packs import LanguagePattern, of, packs_of
from callwright.language.protocol import LanguagePack
from callwright.language.text import VERBATIM, Found, folded
from callwright.warehouse.records import Language

DATE = "date"
YEARLESS = "date without a year"
RELATIVE = "relative day"
AMBIGUOUS = "day and month in either order"

_LEAP_YEAR = 2024  # judges 29 February where no year is stated
_NUMERIC = (
    r"(?<![\w.:/\-])(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\w/\-]|\.\d)",
    r"(?<![\w.:/\-])(?P<a>\d{1,2})(?P<t>[-/.])(?P<b>\d{1,2})(?P=t)(?P<c>\d{4})(?![\w/\-]|\.\d)",
)
_GROUP = re.compile(r"\(\?P([<=])(\w)([>)])")
_HINT = LanguagePattern(r"\d|@{date_hint}", re.RegexFlag(0))
_RELATIVE = LanguagePattern("@{relative_day}", re.RegexFlag(0))


class _DateParts(NamedTuple):
    """The parts of a date as a pattern found them, and the language that can read them."""

    stated: Mapping[str, str]
    pack: LanguagePack


@cache
def _absolute(packs: tuple[LanguagePack, ...]) -> tuple[re.Pattern[str], tuple[LanguagePack, ...]]:
    """One pattern for the dates of these languages, and whose each of its alternatives is."""
    first, *others = packs
    rows = [(one, first) for one in first.rules.DATE_PATTERNS] + [(one, first) for one in _NUMERIC]
    rows += [(one, pack) for pack in others for one in pack.rules.DATE_PATTERNS]
    numbered = (_GROUP.sub(rf"(?P\g<1>\g<2>{at}\g<3>", one) for at, (one, _) in enumerate(rows))
    return re.compile("|".join(numbered)), tuple(pack for _, pack in rows)


def _parts(match: re.Match[str], packs: Sequence[LanguagePack]) -> _DateParts:
    stated = {name[0]: (words, int(name[1:])) for name, words in match.groupdict().items() if words is not None}
    at = next(number for _, number in stated.values())
    return _DateParts({name: words for name, (words, _) in stated.items()}, packs[at])


def find_dates(text: str) -> list[Found]:
    """The dates in `text`: ISO `YYYY-MM-DD`, `--MM-DD` where no year is stated, relative days in the words used.

    3/5/2026 may be March or May: it is left out here, and `date_spans` still says where it stands.
    """
    return [found for found in _dates(text) if found.rule != AMBIGUOUS]


def date_spans(text: str) -> list[tuple[int, int]]:
    """Where dates stand that contain digits or numerals, whether they can be read or not."""
    return [(found.start, found.end) for found in _dates(text) if found.rule != RELATIVE]


def write_date(value: str, language: Language, rng: Random) -> str:
    """The ISO date `value` as a person may say it, always with its year and never ambiguous."""
    day = date.fromisoformat(value)
    return rng.choice(of(language).rules.date_forms(day.year, day.month, day.day))


@lru_cache(4096)
def _dates(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    found: list[Found] = []
    if _HINT.of(text).search(plain.text):
        pattern, packs = _absolute(packs_of(text))
        for match in pattern.finditer(plain.text):
            start, end = plain.span(*match.span())
            read = _readings(_parts(match, packs), text[start:end])
            found.extend(Found(value, start, end, rule) for value, rule in read)
    for match in _RELATIVE.of(text).finditer(plain.text):
        start, end = plain.span(*match.span())
        if not any(other.start < end and start < other.end for other in found):
            found.append(Found(text[start:end], start, end, RELATIVE))
    return tuple(sorted(found, key=lambda one: one.start))


def _readings(parts: _DateParts, quote: str) -> Iterator[tuple[str, str]]:
    stated, pack = parts
    if "a" in stated:
        yield from _either_order(int(stated["a"]), int(stated["b"]), int(stated["c"]))
        return
    year = _number(stated.get("y"), pack.rules.year_number)
    value = _iso(year, _number(stated["m"], pack.rules.month_number), _number(stated["d"], pack.rules.day_of_month))
    if value:
        rule = YEARLESS if year is None else DATE
        yield value, VERBATIM if value == quote else rule


def _either_order(first: int, second: int, year: int) -> Iterator[tuple[str, str]]:
    as_month_day, as_day_month = _iso(year, first, second), _iso(year, second, first)
    if as_month_day and as_day_month and as_month_day != as_day_month:
        yield f"{year}", AMBIGUOUS
    elif as_month_day or as_day_month:
        yield as_month_day or as_day_month, DATE


def _iso(year: int | None, month: int | None, day: int | None) -> str:
    if month is None or day is None:
        return ""
    try:
        valid = date(year or _LEAP_YEAR, month, day)
    except ValueError:
        return ""
    return valid.isoformat() if year else f"--{month:02}-{day:02}"


def _number(words: str | None, read: Callable[[str], int | None]) -> int | None:
    if words is None:
        return None
    return int(re.sub(r"\D", "", words)) if words[0].isdecimal() else read(words)
