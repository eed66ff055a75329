"""Dates and times together: `YYYY-MM-DD HH:MM`, and phrases such as "tomorrow at 10am" or 4月10号早上9点."""

import re
from functools import lru_cache
from itertools import product
from random import Random
from typing import NamedTuple

from language.dates import DATE, MONTH_NUMBERS, MONTH_PATTERN, RELATIVE, WEEKDAY_SHORT, YEARLESS, find_dates, write_date
from language.text import VERBATIM, Found, fold
from language.times import HALF_DAY, find_times, other_half, write_time
from warehouse.records import Language

DATE_TIME = "date and time"
FIGURES = "date in figures"
MONTH = "month of a date"
_FIGURES = re.compile(
    r"(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-](?P<year>\d{4})(?:[ T](?P<clock>\d{1,2}:\d\d)(?::00)?)?"
)
_MONTH_OF_YEAR = re.compile(
    rf"\s*(?P<month>{MONTH_PATTERN})\s+(?:of\s+)?(?P<year>this|last|next)\s+year\s*", re.IGNORECASE
)
_MONTH_SAID = re.compile(
    rf"\b(?:(?P<month>{MONTH_PATTERN})\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+(?:of\s+)?(?P<year>this|last|next)\s+year"
    rf"|(?P<before>this|last|next)\s+(?P<after>{MONTH_PATTERN}))\b",
    re.IGNORECASE,
)
_FILLERS = re.compile(r"\b(?:on|at|the|of|in|from|by|around|morning|about)\b|[\s,，。.、的在]+")
_FARTHEST = 60
_DAY_OF_PART = {
    "tonight": "today", "this morning": "today", "this afternoon": "today", "this evening": "today",
    "今晚": "今天", "今早": "今天", "今日": "今天", "明晚": "明天", "明早": "明天", "明日": "明天",
    "昨晚": "昨天", "昨日": "昨天",
}  # fmt: skip


class Part(NamedTuple):
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
    """Whether `found` is the time `value`, or may be it where no am or pm is said."""
    return found.value == value or (found.rule == HALF_DAY and other_half(value) == found.value)


def write_moment(value: str, language: Language, rng: Random) -> str:
    """`value` (YYYY-MM-DD HH:MM) as a person may say it."""
    day, clock = write_date(value[:10], language, rng), write_time(value[11:16], language, rng)
    if language == "zh":
        return day + clock
    return rng.choice((f"{day} at {clock}", f"{clock} on {day}"))


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
    wanted = _MONTH_OF_YEAR.fullmatch(phrase)
    if not wanted:
        return None
    month, year = MONTH_NUMBERS[wanted["month"].lower()], wanted["year"].lower()
    for match in _MONTH_SAID.finditer(text):
        said = MONTH_NUMBERS[(match["month"] or match["after"]).lower()], (match["year"] or match["before"]).lower()
        if said == (month, year):
            return Found(phrase, *match.span(), MONTH)
    return None


def _find_day(day: str, text: str) -> Found | None:
    return next((found for found in find_dates(text) if found.value == day), None)


def find_same_moment(phrase: str, text: str) -> Found | None:
    """Where `text` says the same dates and times as `phrase`, which says nothing but dates and times."""
    parts = moment_parts(phrase)
    if not parts:
        return None
    said = [(_part(found), found) for found in (*find_dates(text), *find_times(text))]
    if len(parts) > 1:
        # once the clock time is said, "tonight" and "this evening" only say which day
        parts = tuple(_on_its_day(part) for part in parts)
        said = [(_on_its_day(part), found) for part, found in said]
    hits: list[Found] = []
    for part in parts:
        hit = next((found for one, found in said if one == part), None)
        if hit is None:
            return None
        hits.append(hit)
    start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
    if end - start > _FARTHEST + sum(hit.end - hit.start for hit in hits):
        return None
    return Found(phrase, start, end, hits[0].rule or "date" if len(hits) == 1 else DATE_TIME)


@lru_cache(4096)
def moment_parts(phrase: str) -> tuple[Part, ...]:
    """The dates and times that make up `phrase`, none where it says anything else as well."""
    found = sorted((*find_dates(phrase), *find_times(phrase)), key=lambda one: one.start)
    rest = phrase
    for one in reversed(found):
        rest = rest[: one.start] + " " + rest[one.end :]
    if not found or _FILLERS.sub("", fold(rest)):
        return ()
    return tuple(_part(one) for one in found)


def _part(found: Found) -> Part:
    if found.rule == RELATIVE:
        return Part("relative", " ".join(WEEKDAY_SHORT.get(word, word) for word in fold(str(found.value)).split()))
    return Part("half" if found.rule == HALF_DAY else "moment", str(found.value))


def _on_its_day(part: Part) -> Part:
    return Part(part.kind, _DAY_OF_PART.get(part.value, part.value)) if part.kind == "relative" else part


def _gap(one: Found, other: Found) -> int:
    return max(one.start, other.start) - min(one.end, other.end)
