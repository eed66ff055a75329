"""Dates and times together: `YYYY-MM-DD HH:MM`, and phrases such as "tomorrow at 10am" or the like in any language."""

import re
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import NamedTuple

from callwright.language.dates import DATE, RELATIVE, YEARLESS, find_dates, write_date
from callwright.language.packs import LanguagePattern, known, of, packs_of
from callwright.language.protocol import ClockReading
from callwright.language.text import VERBATIM, Found, fold, folded
from callwright.warehouse.records import Language

TIME = "time of day"
HALF_DAY = "time of day without am or pm"

_NOON = 12
_DAY = 24
_HOUR = 60
# The first and the last hour that each part of the day takes, and what is added to it; and what twelve is.
_HOURS = {
    "am": (1, 11, 0), "morning": (1, 11, 0), "pm": (1, 11, _NOON), "noon": (1, 2, _NOON), "afternoon": (1, 7, _NOON),
    "evening": (4, 11, _NOON), "night": (6, 11, _NOON), "small hours": (1, 6, 0),
}  # fmt: skip
_TWELVE = {"am": 0, "morning": 0, "pm": _NOON, "noon": _NOON, "afternoon": _NOON, "night": 0, "small hours": 0}


def find_times(text: str) -> list[Found]:
    """The times of day in `text`; one without am or pm stands under HALF_DAY with its morning reading."""
    return list(_times(text))


def other_half(value: str) -> str:
    """The same place on the clock in the other half of the day: 07:30 for 19:30."""
    return f"{(int(value[:2]) + _NOON) % _DAY:02}:{value[3:5]}"


def write_time(value: str, language: Language, rng: Random) -> str:
    """The time `value` (HH:MM) as a person may say it, in a form that can only mean this time."""
    return of(language).rules.write_clock(int(value[:2]), int(value[3:5]), rng)


@lru_cache(4096)
def _times(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    found: list[Found] = []
    readings = [reading for pack in reversed(packs_of(text)) for reading in pack.rules.clock_readings(plain.text)]
    for reading in sorted(readings, key=lambda one: (one.start, -one.end)):
        value, rule = _value(reading)
        start, end = plain.span(reading.start, reading.end)
        if value and (not found or start >= found[-1].end):
            found.append(Found(value, start, end, VERBATIM if text[start:end] == value else rule))
    return tuple(found)


def _value(reading: ClockReading) -> tuple[str, str]:
    hour, minute, part = reading.hour, reading.minute, reading.part
    if hour > _DAY or minute >= _HOUR:
        return "", TIME
    if part == "named" or hour > _NOON or hour == 0:
        return f"{hour % _DAY:02}:{minute:02}", TIME
    if not part:
        return f"{hour:02}:{minute:02}", HALF_DAY
    first, last, added = _HOURS[part]
    if hour == _NOON:
        on_the_day = _TWELVE.get(part)
    elif part == "noon" and hour == _NOON - 1:
        on_the_day = hour
    else:
        on_the_day = hour + added if first <= hour <= last else None
    return ("", TIME) if on_the_day is None else (f"{on_the_day:02}:{minute:02}", TIME)


DATE_TIME = "date and time"
FIGURES = "date in figures"
MONTH = "month of a date"
_FIGURES = re.compile(
    r"(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-](?P<year>\d{4})(?:[ T](?P<clock>\d{1,2}:\d\d)(?::00)?)?"
)
_FILLERS = LanguagePattern(r"@{moment_filler}|@[\s,.{list}]+", re.RegexFlag(0))
_FARTHEST = 60


class MomentPart(NamedTuple):
    """A date, a time or a relative day in a phrase."""

    kind: str
    value: str


def find_moment(value: str, text: str) -> Found | None:
    """Where `text` says the date and the time of `value`, in either order and not far apart."""
    day, clock = value[:10], value[11:16]
    dates = [found for found in find_dates(text) if says_date(day, found)]
    times = [found for found in find_times(text) if says_time(clock, found)]
    pairs = [(_gap(date, time), date, time) for date, time in product(dates, times)]
    if not pairs:
        return None
    gap, date, time = min(pairs, key=lambda pair: pair[0])
    if gap > _FARTHEST:
        return None
    weak = next((found.rule for found in (time, date) if found.rule in (HALF_DAY, YEARLESS)), DATE_TIME)
    return Found(value, min(date.start, time.start), max(date.end, time.end), weak)


def says_date(value: str, found: Found) -> bool:
    """Whether `found` is the ISO date `value`, perhaps without its year."""
    return found.value == value or (found.rule == YEARLESS and str(found.value)[1:] == value[4:])


def says_time(value: str, found: Found) -> bool:
    """Whether `found` is the time `value`, or may be it where no am or pm is stated."""
    return found.value == value or (found.rule == HALF_DAY and other_half(value) == found.value)


def write_moment(value: str, language: Language, rng: Random) -> str:
    """`value` (YYYY-MM-DD HH:MM) as a person may say it."""
    day, clock = write_date(value[:10], language, rng), write_time(value[11:16], language, rng)
    forms = of(language).rules.moment_forms(day, clock)
    return forms[0] if len(forms) == 1 else rng.choice(forms)


def find_figures(value: str, text: str) -> Found | None:
    """Where `text` says one of the two dates that a value such as 04/05/2023 may be, and its time where it has one."""
    match = _FIGURES.fullmatch(value)
    if not match:
        return None
    first, second, year = match["first"], match["second"], match["year"]
    clock = match["clock"]
    for day in (f"{year}-{first:0>2}-{second:0>2}", f"{year}-{second:0>2}-{first:0>2}"):
        found = find_moment(f"{day} {clock:0>5}", text) if clock else _find_day(day, text)
        if found and found.rule in (DATE, VERBATIM, DATE_TIME):
            return Found(value, found.start, found.end, FIGURES)
    return None


def find_month(phrase: str, text: str) -> Found | None:
    """Where `text` says a date in the month of `phrase`: "December of last year" in "December 25 of last year"."""
    for pack in packs_of(text):
        span = pack.rules.find_month(phrase, text)
        if span is not None:
            return Found(phrase, *span, MONTH)
    return None


def _find_day(day: str, text: str) -> Found | None:
    return next((found for found in find_dates(text) if found.value == day), None)


def find_same_moment(phrase: str, text: str) -> Found | None:
    """Where `text` says the same dates and times as `phrase`, which says nothing but dates and times."""
    parts = moment_parts(phrase)
    if not parts:
        return None
    stated = [(_part(found), found) for found in (*find_dates(text), *find_times(text))]
    if len(parts) > 1:
        # once the clock time is stated, "tonight" and "this evening" only say which day
        parts = tuple(_on_its_day(part) for part in parts)
        stated = [(_on_its_day(part), found) for part, found in stated]
    hits: list[Found] = []
    for part in parts:
        hit = next((found for one, found in stated if one == part), None)
        if hit is None:
            return None
        hits.append(hit)
    start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
    if end - start > _FARTHEST + sum(hit.end - hit.start for hit in hits):
        return None
    return Found(phrase, start, end, hits[0].rule or "date" if len(hits) == 1 else DATE_TIME)


@lru_cache(4096)
def moment_parts(phrase: str) -> tuple[MomentPart, ...]:
    """The dates and times that make up `phrase`, none where it says anything else as well."""
    found = sorted((*find_dates(phrase), *find_times(phrase)), key=lambda one: one.start)
    rest = phrase
    for one in reversed(found):
        rest = rest[: one.start] + " " + rest[one.end :]
    if not found or _FILLERS.of(phrase).sub("", fold(rest)):
        return ()
    return tuple(_part(one) for one in found)


@cache
def _same_days() -> dict[str, str]:
    """Short names of weekdays, and what they stand for."""
    return {short: day for code in known() for short, day in of(code).data["calendar"]["weekdays"].items()}


@cache
def _days_of_parts() -> dict[str, str]:
    """Words such as tonight, and the day that they are on."""
    return {part: day for code in known() for part, day in of(code).data["calendar"]["days_of_parts"].items()}


def _part(found: Found) -> MomentPart:
    if found.rule == RELATIVE:
        return MomentPart("relative", " ".join(_same_days().get(word, word) for word in fold(str(found.value)).split()))
    return MomentPart("half" if found.rule == HALF_DAY else "moment", str(found.value))


def _on_its_day(part: MomentPart) -> MomentPart:
    return MomentPart(part.kind, _days_of_parts().get(part.value, part.value)) if part.kind == "relative" else part


def _gap(one: Found, other: Found) -> int:
    return max(one.start, other.start) - min(one.end, other.end)
