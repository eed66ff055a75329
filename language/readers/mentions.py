"""Moments and amounts that a text mentions, in any language that Duckling reads.

Each comes with everything that its words may mean. Days without a year, weekdays and days
relative to today are recognised by reading the text as of two different days: what stays the
same does not depend on today.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil, floor, isclose
from typing import Any, Literal, NamedTuple

from callwright.language.names import split_name
from callwright.language.packs import packaged
from callwright.language.readers.duckling_reader import DucklingEntity, read
from callwright.warehouse.records import DEFAULT_LANGUAGE

# dated: the words name a day; yearless: any year's; monthless: a day of some month; weekday: of
# this week or the next; counted: from today, as tomorrow is; loose: a week, a month, a range, or
# something that nobody can be sure of.
DaySort = Literal["", "dated", "yearless", "monthless", "weekday", "counted", "loose"]
_SOME_DAYS = (datetime(2001, 1, 1, tzinfo=UTC), datetime(2009, 7, 15, 13, 20, tzinfo=UTC))
_WEEK, _MONTHS = 7, 12
_CLOCK_GRAINS = ("hour", "minute", "second")
_STEPS = {
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
_FIGURES = re.compile(r"(?<!\d)\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?!\d)")


class Moment(NamedTuple):
    """A day, a time of day, or both, at `start`..`end` of a text.

    `days` are ISO dates and `clocks` HH:MM, each all that the words may mean. `is_range`: it
    covers more than it names. `is_from_now`: its time of day counts from now.
    """

    start: int
    end: int
    days: frozenset[str]
    clocks: frozenset[str]
    sort: DaySort = ""
    is_range: bool = False
    is_from_now: bool = False

    def may_be_day(self, day: str) -> bool:
        """Whether the words may mean this ISO date."""
        part = {"yearless": slice(5, None), "monthless": slice(8, None)}.get(self.sort, slice(None))
        return any(one[part] == day[part] for one in self.days)


class Amount(NamedTuple):
    """A number at `start`..`end` of a text: `value` in `unit`, which is "" for a bare number.

    `is_sure`: it is one number, not a range, and its words have no other reading.
    """

    start: int
    end: int
    value: float
    unit: str
    is_sure: bool = True


_FREEZING = {"fahrenheit": 32.0}
_DIMENSIONS = ("number", "duration", "distance", "quantity", "temperature", "amount-of-money")
_EACH = re.compile(r"\s(?:an?|each|every|al?|je)\s")
_CODE_BEFORE = re.compile(r"[A-Za-z\d_#@-][A-Za-z\d-]\Z")
_CODE_BEHIND = re.compile(r"[A-Za-z\d](?:[A-Za-z_]|-?\d)")
_LONGEST_UNIT = 14
_NUMBER_UNIT = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)[\s-]?([^\W\d_]+)")
_NO_UNITS = frozenset({"min", "second"})  # the least, and the one after the first


@cache
def words_around(name: str, template: str = "{0}") -> re.Pattern[str]:
    """Return a regex from `template`, with the words of `name` in mentions.yaml for `{0}`."""
    alternatives = packaged("callwright.language", "mentions.yaml")[name]
    return re.compile(template.replace("{0}", f"(?:{'|'.join(alternatives)})"), re.IGNORECASE)


def _units() -> dict[str, tuple[str, float]]:
    """What each unit measures, and how many of the first of its sort it is."""
    units: dict[str, tuple[str, float]] = packaged("callwright.language", "mentions.yaml")["units"]
    return units


def dimension_of(unit: str) -> str:
    """Return what a unit measures, or "" for an unknown unit."""
    return str(_units()[unit][0]) if unit in _units() else ""


def converted(value: float, unit: str, to: str) -> float:
    """Return a value of one unit converted to another unit of the same dimension."""
    base = (value - _FREEZING.get(unit, 0)) * _units()[unit][1]
    return base / _units()[to][1] + _FREEZING.get(to, 0)


def is_about(one: float, other: float) -> bool:
    """Whether two amounts are equal up to the rounding of conversions."""
    return isclose(one, other, rel_tol=0.005, abs_tol=1e-9) or one in (
        floor(other),
        ceil(other),
        round(other),
    )


@lru_cache(4096)
def find_moments(text: str, language: str, now: datetime | None) -> tuple[Moment, ...]:
    """Return the days and times that `text` mentions, in text order.

    Those relative to today are resolved against `now`, if it is known.
    """
    others = [
        {(one.start, one.end): one for one in _timed(text, language, day)} for day in _SOME_DAYS
    ]
    moments: list[Moment] = []
    for entity in _timed(text, language, now or _SOME_DAYS[0]):
        twice = [known.get((entity.start, entity.end)) for known in others]
        moment = _moment(entity, [one for one in twice if one], text, is_known=now is not None)
        if moment:
            moments.append(moment)
    return tuple(moments)


def _timed(text: str, language: str, now: datetime) -> Iterator[DucklingEntity]:
    return (one for one in read(text, language, now) if one.dimension == "time")


def _moment(
    entity: DucklingEntity, twice: list[DucklingEntity], text: str, *, is_known: bool
) -> Moment | None:
    values = entity.value.get("values") or [entity.value]
    is_range = any("value" not in one for one in values)
    stamps = [stamp for one in values for stamp in _stamps(one)]
    grains = {str(edge["grain"]) for one in values for edge in _edges(one)}
    if not stamps:
        return None
    has_clock = bool(grains & {*_CLOCK_GRAINS})
    clocks = frozenset(f"{one:%H:%M}" for one in stamps) if has_clock else frozenset()
    days = {one.date() for one in stamps}
    sort: DaySort = "loose"
    if len(twice) == len(_SOME_DAYS):
        sort = _sort_of(*(_days_of(one) for one in twice))
    if has_clock and sort != "dated" and not _names_day(values):
        days, sort = set(), ""
    if grains - {*_CLOCK_GRAINS, "day"}:  # a week, a month, a year
        sort, is_range = "loose", True
    if sort in ("weekday", "loose"):
        days |= {day + timedelta(days=apart) for day in days for apart in (-_WEEK, _WEEK)}
    quote = text[entity.start : entity.end]
    if _FIGURES.search(quote):  # the fifth of June, or the sixth of May
        days |= {day.replace(month=day.day, day=day.month) for day in days if day.day <= _MONTHS}
    if sort in ("weekday", "counted", "loose") and not is_known:
        days, sort = set(), "loose"
    apart = {
        frozenset(f"{one:%H:%M}" for value in _values(each) for one in _stamps(value))
        for each in twice
    }
    is_from_now = has_clock and len(apart) > 1 and len(values) == 1
    told = frozenset(one.isoformat() for one in days)
    return Moment(entity.start, entity.end, told, clocks, sort, is_range, is_from_now)


def _values(entity: DucklingEntity) -> list[dict[str, Any]]:
    return entity.value.get("values") or [entity.value]


def _edges(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a value, or an interval's start and end; "by Friday" has only its end, a day."""
    if "value" in value:
        return [value]
    edges = [value[edge] for edge in ("from", "to") if value.get(edge)]
    is_to_seconds = len(edges) > 1 and all(edge["grain"] == "second" for edge in edges)
    if is_to_seconds and "T00:00:00" in edges[1]["value"]:
        return [{"value": edges[1]["value"], "grain": "day"}]
    return edges


def _stamps(value: dict[str, Any]) -> Iterator[datetime]:
    """Yield the moments that a value may mean, including the last one before the end of a range."""
    for edge in _edges(value):
        stamp = datetime.fromisoformat(edge["value"])
        yield stamp
        if edge is value.get("to"):
            yield stamp - _STEPS.get(edge["grain"], timedelta(days=1))


def _days_of(entity: DucklingEntity) -> list[date]:
    return [stamp.date() for value in _values(entity) for stamp in _stamps(value)]


def _names_day(values: list[dict[str, Any]]) -> bool:
    """Whether the words name a day as well as a time; a bare time is read on every day."""
    days = sorted({stamp.date() for value in values for stamp in _stamps(value)})
    return len(days) == 1 or min((later - day).days for day, later in pairwise(days)) > 1


def _sort_of(first: list[date], second: list[date]) -> DaySort:
    """Return how words state their day, by comparing their readings as of two days."""
    first_day, second_day = first[0], second[0]
    apart = [
        (day - now.date()).days
        for day, now in zip((first_day, second_day), _SOME_DAYS, strict=True)
    ]
    if set(first) == set(second):
        return "dated"
    if (first_day.month, first_day.day) == (second_day.month, second_day.day):
        return "yearless"
    if apart[0] == apart[1] and len(set(first)) == 1:
        return "counted"
    if first_day.day == second_day.day:
        return "monthless"
    return "weekday" if first_day.weekday() == second_day.weekday() else "loose"


@lru_cache(4096)
def find_amounts(text: str, language: str) -> tuple[Amount, ...]:
    """Return the numbers with units in `text`, in order, also those within days and times."""
    entities = [one for one in read(text, language, _SOME_DAYS[0]) if one.dimension in _DIMENSIONS]
    amounts: list[Amount] = []
    for entity in entities:
        others = (other for other in entities if other is not entity and other.start < entity.end)
        is_alone = not any(entity.start < other.end for other in others)
        is_part = _is_rate(text, entity.end) or _is_of_code(text, entity.start, entity.end)
        ends = [entity.value[edge] for edge in ("from", "to") if edge in entity.value]
        edges = [entity.value] if "value" in entity.value else ends
        unit = _unit(entity.dimension, str(edges[0].get("unit", "")))
        is_sure = is_alone and not is_part and "value" in entity.value
        values = [float(edge["value"]) for edge in edges]
        amounts += [Amount(entity.start, entity.end, value, unit, is_sure) for value in values]
    return tuple(amounts)


def says_with_unit(value: float, unit: str, text: str, language: str) -> bool:
    """Whether a text says a number with its unit behind it, whatever stands around them.

    The unit may be one that Duckling joins to the next word: "450 meters in 20 seconds".
    """
    return any(
        float(found[1].replace(",", "")) == value
        and _unit_named(found[2].lower(), language) == unit
        for found in _NUMBER_UNIT.finditer(text)
    )


def _is_rate(text: str, end: int) -> bool:
    """Whether the amount that ends here is a rate per something, or is raised to a power."""
    return bool(words_around("rate", r"\s?{0}").match(text, end) or _EACH.match(text, end))


def _is_of_code(text: str, start: int, end: int) -> bool:
    """Whether a number starts or ends inside a code, such as "T-55120" or "B11"."""
    return bool(_CODE_BEFORE.search(text, 0, start + 1) or _CODE_BEHIND.match(text, end - 1))


def _unit(dimension: str, named: str) -> str:
    if dimension == "amount-of-money":
        return "cent" if named == "cent" else "money"
    return named


def unit_of(name: str, description: str, language: str) -> str:
    """Return the unit that a parameter's name, or else its description, names.

    "" if they name none or several.
    """
    described = description.lower()
    if words_around("cents").search(f"{' '.join(split_name(name))} {described}"):
        return "cent"
    tokens = split_name(name)
    if "per" in tokens:  # what is counted for each night is no night
        tokens = tokens[: tokens.index("per")]
    last = (token for token in tokens[-1:] if token not in _NO_UNITS)
    named = {unit for token in last if (unit := _unit_named(token, language))}
    if not named:
        pattern = words_around("unit_follows", r"(?:{0})([^\W\d_]+)|^\W*([^\W\d_]+)\W*$")
        told = pattern.finditer(described)
        words = [match[1] or match[2] for match in told if not _is_rate(described, match.end())]
        named = {unit for word in words if (unit := _unit_named(word, language))}
    return named.pop() if len(named) == 1 else ""


@lru_cache(4096)
def _unit_named(word: str, language: str) -> str:
    """Return the unit that a word alone names: what Duckling reads in "2 minutes"."""
    if not 1 < len(word) <= _LONGEST_UNIT:
        return ""
    for known in dict.fromkeys((DEFAULT_LANGUAGE, language)):
        stated = f"2 {word}" if known == DEFAULT_LANGUAGE or word.isascii() else f"2{word}"
        for amount in find_amounts(stated, known):
            is_whole = (amount.start, amount.end) == (0, len(stated))
            if is_whole and amount.unit in _units() and amount.unit != "money":
                return "kilogram" if amount.value == 2000 and amount.unit == "gram" else amount.unit  # noqa: PLR2004
    return ""
