"""Dates and times in text, together or apart.

Absolute dates are read as ISO dates; some have no year; relative days stay as stated.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import chain, product
from random import Random
from typing import NamedTuple

from callwright.language.packs import LanguagePattern, known, of, packs_of
from callwright.language.spoken import DAY, NOON, DateReading, spoken_in
from callwright.language.text import VERBATIM, Found, Spans, fold, folded
from callwright.warehouse.records import Language

DATE = "date"
YEARLESS = "date without a year"
RELATIVE = "relative day"
AMBIGUOUS = "day and month in either order"
TIME = "time of day"
HALF_DAY = "time of day without am or pm"
DATE_TIME = "date and time"
FIGURES = "date in figures"

_LEAP_YEAR = 2024  # judges 29 February where no year is stated
_MONTHS = 12
_YEAR_FIRST = re.compile(
    r"(?<![\w.:/\-])(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\w/\-]|\.\d)"
)
_YEAR_LAST = re.compile(
    r"(?<![\w.:/\-])(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?![\w/\-]|\.\d)"
)
_RELATIVE = LanguagePattern("@{relative_day}", re.RegexFlag(0))


def find_dates(text: str) -> list[Found]:
    """Return the dates in `text`: ISO `YYYY-MM-DD`, `--MM-DD` without a year, or relative days.

    Relative days are in the words used. 3/5/2026 may be March or May: it is left out here, but
    `date_spans` still says where it is.
    """
    return [found for found in _dates(text) if found.rule != AMBIGUOUS]


def date_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of dates that contain digits or numerals, readable or not."""
    return [(found.start, found.end) for found in _dates(text) if found.rule != RELATIVE]


def find_times(text: str) -> list[Found]:
    """Return the times in `text`; one without am or pm is under HALF_DAY, read as morning."""
    return list(_times(text))


def other_half(value: str) -> str:
    """Return the same clock time in the other half of the day: 07:30 for 19:30."""
    return f"{(int(value[:2]) + NOON) % DAY:02}:{value[3:5]}"


def says_date(value: str, found: Found) -> bool:
    """Whether `found` is the ISO date `value`, perhaps without its year."""
    return found.value == value or (found.rule == YEARLESS and str(found.value)[1:] == value[4:])


def says_time(value: str, found: Found) -> bool:
    """Whether `found` is the time `value`, or could be if neither am nor pm is stated."""
    return found.value == value or (found.rule == HALF_DAY and other_half(value) == found.value)


def write_date(value: str, language: Language, rng: Random) -> str:
    """Return the ISO date `value` as a person would say it, unambiguous and with its year."""
    return spoken_in(language).write_date(date.fromisoformat(value), rng)


def write_time(value: str, language: Language, rng: Random) -> str:
    """Return the time `value` (HH:MM) as a person would say it, in an unambiguous form."""
    return spoken_in(language).write_clock(int(value[:2]), int(value[3:5]), rng)


def write_moment(value: str, language: Language, rng: Random) -> str:
    """Return `value` (YYYY-MM-DD HH:MM) as a person would say it."""
    day, clock = write_date(value[:10], language, rng), write_time(value[11:16], language, rng)
    return spoken_in(language).write_moment(day, clock, rng)


def write_utc_moment(value: str, language: Language, rng: Random) -> str:
    """Return `value` (YYYY-MM-DDTHH:MM:00Z) as people write it to each other."""
    day = write_date(value[:10], language, rng)
    apart = "" if of(language).space else " "  # figures stand apart from a script without spaces
    return spoken_in(language).write_moment(day, f"{apart}{value[11:16]} UTC", rng)


@lru_cache(4096)
def _dates(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    dates: list[Found] = []
    spoken = (spoken_in(pack.code).date_readings(plain.text) for pack in packs_of(text))
    readings = [*chain(*spoken), *_in_digits(plain.text)]
    for reading in sorted(readings, key=lambda one: (one.start, -one.end)):
        start, end = plain.span(reading.start, reading.end)
        value = _iso(reading.year, reading.month, reading.day)
        if value and (not dates or start >= dates[-1].end):
            rule = YEARLESS if reading.year is None else DATE
            if reading.is_open and reading.month != reading.day:
                value, rule = str(reading.year), AMBIGUOUS
            dates.append(Found(value, start, end, VERBATIM if value == text[start:end] else rule))
    taken = Spans((one.start, one.end) for one in dates)
    for match in _RELATIVE.of(text).finditer(plain.text):
        start, end = plain.span(*match.span())
        if not taken.overlaps(start, end):
            dates.append(Found(text[start:end], start, end, RELATIVE))
    return tuple(sorted(dates, key=lambda one: one.start))


def _in_digits(text: str) -> Iterator[DateReading]:
    """Yield the all-digit dates in folded `text`, open if either number may be the month."""
    for match in _YEAR_FIRST.finditer(text):
        yield DateReading(*match.span(), int(match["y"]), int(match["m"]), int(match["d"]))
    for match in _YEAR_LAST.finditer(text):
        low, high = sorted((int(match["a"]), int(match["b"])))
        yield DateReading(*match.span(), int(match["y"]), low, high, is_open=high <= _MONTHS)


def _iso(year: int | None, month: int, day: int) -> str:
    try:
        valid = date(year or _LEAP_YEAR, month, day)
    except ValueError:
        return ""
    return valid.isoformat() if year else f"--{month:02}-{day:02}"


@lru_cache(4096)
def _times(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    times: list[Found] = []
    packs = reversed(packs_of(text))
    readings = chain(*(spoken_in(pack.code).clock_readings(plain.text) for pack in packs))
    for reading in sorted(readings, key=lambda one: (one.start, -one.end)):
        start, end = plain.span(reading.start, reading.end)
        if not times or start >= times[-1].end:
            value = f"{reading.hour:02}:{reading.minute:02}"
            rule = HALF_DAY if reading.is_open else TIME
            times.append(Found(value, start, end, VERBATIM if text[start:end] == value else rule))
    return tuple(times)


_FIGURES = re.compile(
    r"(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-](?P<year>\d{4})(?:["
    r" T](?P<clock>\d{1,2}:\d\d)(?::00)?)?"
)
_FILLERS = LanguagePattern(r"@{moment_filler}|@[\s,.{list}]+", re.RegexFlag(0))
_FARTHEST = 60


class MomentPart(NamedTuple):
    """A date, a time or a relative day in a phrase."""

    kind: str
    value: str


def find_moment(value: str, text: str) -> Found | None:
    """Return where `text` says the date and time of `value`, close together in either order."""
    dates = [found for found in find_dates(text) if says_date(value[:10], found)]
    times = [found for found in find_times(text) if says_time(value[11:16], found)]

    def gap(pair: tuple[Found, Found]) -> int:
        return max(one.start for one in pair) - min(one.end for one in pair)

    nearest = min(product(dates, times), key=gap, default=None)
    if nearest is None or gap(nearest) > _FARTHEST:
        return None
    day, time = nearest
    weak = next((one.rule for one in (time, day) if one.rule in (HALF_DAY, YEARLESS)), DATE_TIME)
    return Found(value, min(day.start, time.start), max(day.end, time.end), weak)


def find_figures(value: str, text: str) -> Found | None:
    """Return where `text` states a date that a value such as 04/05/2023 may be, or None.

    The value has two possible readings. If it has a time of day, `text` must state that too.
    """
    match = _FIGURES.fullmatch(value)
    if not match:
        return None
    first, second, year, clock = match.groups()
    for day in (f"{year}-{first:0>2}-{second:0>2}", f"{year}-{second:0>2}-{first:0>2}"):
        days = (found for found in find_dates(text) if found.value == day)
        found = find_moment(f"{day} {clock:0>5}", text) if clock else next(days, None)
        if found and found.rule in (DATE, VERBATIM, DATE_TIME):
            return Found(value, found.start, found.end, FIGURES)
    return None


def find_same_moment(phrase: str, text: str) -> Found | None:
    """Return where `text` states the dates and times that are all of `phrase`, or None."""
    parts = moment_parts(phrase)
    if not parts:
        return None
    stated_parts = [(_part(found), found) for found in (*find_dates(text), *find_times(text))]
    if len(parts) > 1:
        # once the clock time is stated, "tonight" and "this evening" only say which day
        parts = tuple(_on_its_day(part) for part in parts)
        stated_parts = [(_on_its_day(part), found) for part, found in stated_parts]
    matched = [next((found for one, found in stated_parts if one == part), None) for part in parts]
    hits = [hit for hit in matched if hit is not None]
    start = min((hit.start for hit in hits), default=0)
    end = max((hit.end for hit in hits), default=0)
    if len(hits) < len(parts) or end - start > _FARTHEST + sum(hit.end - hit.start for hit in hits):
        return None
    return Found(phrase, start, end, hits[0].rule or "date" if len(hits) == 1 else DATE_TIME)


@lru_cache(4096)
def moment_parts(phrase: str) -> tuple[MomentPart, ...]:
    """Return the dates and times that make up `phrase`; none if it says anything else too."""
    moments = sorted((*find_dates(phrase), *find_times(phrase)), key=lambda one: one.start)
    rest = phrase
    for one in reversed(moments):
        rest = rest[: one.start] + " " + rest[one.end :]
    if not moments or _FILLERS.of(phrase).sub("", fold(rest)):
        return ()
    return tuple(_part(one) for one in moments)


@cache
def _calendar(table: str) -> dict[str, str]:
    """Return a calendar table of all languages as one mapping.

    A table maps short names of weekdays to the full ones, or words such as tonight to their day.
    """
    return {word: day for code in known() for word, day in of(code).data["calendar"][table].items()}


def _part(found: Found) -> MomentPart:
    if found.rule == RELATIVE:
        words = fold(str(found.value)).split()
        parts = (_calendar("weekdays").get(word, word) for word in words)
        return MomentPart("relative", " ".join(parts))
    return MomentPart("half" if found.rule == HALF_DAY else "moment", str(found.value))


def _on_its_day(part: MomentPart) -> MomentPart:
    day = _calendar("days_of_parts").get(part.value, part.value)
    return part._replace(value=day) if part.kind == "relative" else part
