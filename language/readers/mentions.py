"""Moments and amounts that a text mentions, in any language that Duckling reads: each with all that
its words may mean.

Days without a year, weekdays and days that count from today are told apart by reading the text as
of two days: what stays the same needs no day to count from.
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

    `days` are ISO dates and `clocks` HH:MM, each all that the words may mean. `is_range`: it holds
    more than it names. `is_from_now`: its time of day counts from now.
    """

    start: int
    end: int
    days: frozenset[str]
    clocks: frozenset[str]
    sort: DaySort = ""
    is_range: bool = False
    is_from_now: bool = False

    def may_be_day(self, day: str) -> bool:
        """Whether its words may mean this ISO date."""
        part = {"yearless": slice(5, None), "monthless": slice(8, None)}.get(self.sort, slice(None))
        return any(one[part] == day[part] for one in self.days)


class Amount(NamedTuple):
    """A number at `start`..`end` of a text: `value` in `unit`, which is "" for a bare number.

    `is_sure`: it is one number, no range, and nothing else was read in its words.
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
_NO_UNITS = frozenset({"min", "second"})  # the least, and the one after the first


@cache
def words_around(name: str, template: str = "{0}") -> re.Pattern[str]:
    """The words of this name in mentions.yaml, as a regular expression in which they stand for
    `{0}`.
    """
    alternatives = packaged("callwright.language", "mentions.yaml")[name]
    return re.compile(template.replace("{0}", f"(?:{'|'.join(alternatives)})"), re.IGNORECASE)


def _units() -> dict[str, tuple[str, float]]:
    """What each unit measures, and how many of the first of its sort it is."""
    units: dict[str, tuple[str, float]] = packaged("callwright.language", "mentions.yaml")["units"]
    return units


def dimension_of(unit: str) -> str:
    """What a unit measures, "" for none that is known."""
    return str(_units()[unit][0]) if unit in _units() else ""


def converted(value: float, unit: str, to: str) -> float:
    """A value of one unit in another of the same dimension."""
    base = (value - _FREEZING.get(unit, 0)) * _units()[unit][1]
    return base / _units()[to][1] + _FREEZING.get(to, 0)


def is_about(one: float, other: float) -> bool:
    """Whether two amounts are the same but for how conversions are rounded."""
    return isclose(one, other, rel_tol=0.005, abs_tol=1e-9) or one in (
        floor(other),
        ceil(other),
        round(other),
    )


@lru_cache(4096)
def find_moments(text: str, language: str, now: datetime | None) -> tuple[Moment, ...]:
    """The days and times that `text` mentions, in its order; what counts from today counts from
    `now`, if that is known.
    """
    others = [
        {(one.start, one.end): one for one in _timed(text, language, day)} for day in _SOME_DAYS
    ]
    found: list[Moment] = []
    for entity in _timed(text, language, now or _SOME_DAYS[0]):
        twice = [known.get((entity.start, entity.end)) for known in others]
        moment = _moment(entity, [one for one in twice if one], text, is_known=now is not None)
        if moment:
            found.append(moment)
    return tuple(found)


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
    moves = (
        len(
            {
                frozenset(f"{one:%H:%M}" for value in _values(each) for one in _stamps(value))
                for each in twice
            }
        )
        > 1
    )
    is_from_now = has_clock and moves and len(values) == 1
    told = frozenset(one.isoformat() for one in days)
    return Moment(entity.start, entity.end, told, clocks, sort, is_range, is_from_now)


def _values(entity: DucklingEntity) -> list[dict[str, Any]]:
    return entity.value.get("values") or [entity.value]


def _edges(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A value itself, or what begins and ends it; of what lasts from now on only its end, a day:
    by Friday.
    """
    if "value" in value:
        return [value]
    edges = [value[edge] for edge in ("from", "to") if value.get(edge)]
    if (
        len(edges) > 1
        and all(edge["grain"] == "second" for edge in edges)
        and "T00:00:00" in edges[1]["value"]
    ):
        return [{"value": edges[1]["value"], "grain": "day"}]
    return edges


def _stamps(value: dict[str, Any]) -> Iterator[datetime]:
    """The moments that a value may be; what ends a range, and what is one step before it."""
    for edge in _edges(value):
        stamp = datetime.fromisoformat(edge["value"])
        yield stamp
        if edge is value.get("to"):
            yield stamp - _STEPS.get(edge["grain"], timedelta(days=1))


def _days_of(entity: DucklingEntity) -> list[date]:
    return [stamp.date() for value in _values(entity) for stamp in _stamps(value)]


def _names_day(values: list[dict[str, Any]]) -> bool:
    """Whether the words name a day beside a time: the readings of a time alone are on every day."""
    days = sorted({stamp.date() for value in values for stamp in _stamps(value)})
    return len(days) == 1 or min((later - day).days for day, later in pairwise(days)) > 1


def _sort_of(first: list[date], second: list[date]) -> DaySort:
    """How words tell their day, by what they mean as of two days."""
    one, other = first[0], second[0]
    apart = [(day - now.date()).days for day, now in zip((one, other), _SOME_DAYS, strict=True)]
    if set(first) == set(second):
        return "dated"
    if (one.month, one.day) == (other.month, other.day):
        return "yearless"
    if apart[0] == apart[1] and len(set(first)) == 1:
        return "counted"
    if one.day == other.day:
        return "monthless"
    return "weekday" if one.weekday() == other.weekday() else "loose"


@lru_cache(4096)
def find_amounts(text: str, language: str) -> tuple[Amount, ...]:
    """The numbers that `text` mentions, with their units, in its order; those in days and times,
    too.
    """
    found = [one for one in read(text, language, _SOME_DAYS[0]) if one.dimension in _DIMENSIONS]
    amounts: list[Amount] = []
    for one in found:
        is_sure = not any(
            other is not one and other.start < one.end and one.start < other.end for other in found
        )
        is_sure = (
            is_sure and not _is_rate(text, one.end) and not _is_of_code(text, one.start, one.end)
        )
        if "value" in one.value:
            edges = [one.value]
        else:
            edges = [one.value[edge] for edge in ("from", "to") if edge in one.value]
        unit = _unit(one.dimension, str(edges[0].get("unit", "")))
        amounts += (
            Amount(one.start, one.end, float(edge["value"]), unit, is_sure and "value" in one.value)
            for edge in edges
        )
    return tuple(amounts)


def _is_rate(text: str, end: int) -> bool:
    """Whether what ends here is counted for each of something, or a power of it."""
    return bool(words_around("rate", r"\s?{0}").match(text, end) or _EACH.match(text, end))


def _is_of_code(text: str, start: int, end: int) -> bool:
    """Whether a number begins or ends in the midst of a code: that of "T-55120" or of "B11" is
    none.
    """
    return bool(_CODE_BEFORE.search(text, 0, start + 1) or _CODE_BEHIND.match(text, end - 1))


def _unit(dimension: str, named: str) -> str:
    if dimension == "amount-of-money":
        return "cent" if named == "cent" else "money"
    return named


def unit_of(name: str, description: str, language: str) -> str:
    """The unit that a parameter counts in, by its name or else its description; "" where they
    name none, or several.
    """
    described = description.lower()
    if words_around("cents").search(f"{' '.join(split_name(name))} {described}"):
        return "cent"
    tokens = split_name(name)
    if "per" in tokens:  # what is counted for each night is no night
        tokens = tokens[: tokens.index("per")]
    named = {
        unit
        for token in tokens[-1:]
        if token not in _NO_UNITS and (unit := _unit_named(token, language))
    }
    if not named:
        told = words_around("unit_follows", r"(?:{0})([^\W\d_]+)|^\W*([^\W\d_]+)\W*$").finditer(
            described
        )
        words = [match[1] or match[2] for match in told if not _is_rate(described, match.end())]
        named = {unit for word in words if (unit := _unit_named(word, language))}
    return named.pop() if len(named) == 1 else ""


@lru_cache(4096)
def _unit_named(word: str, language: str) -> str:
    """The unit that a word names, and nothing else: what Duckling reads in "2 minutes"."""
    if not 1 < len(word) <= _LONGEST_UNIT:
        return ""
    for known in dict.fromkeys((DEFAULT_LANGUAGE, language)):
        stated = f"2 {word}" if known == DEFAULT_LANGUAGE or word.isascii() else f"2{word}"
        for one in find_amounts(stated, known):
            if (
                one.end == len(stated)
                and one.start == 0
                and one.unit in _units()
                and one.unit != "money"
            ):
                return "kilogram" if one.value == 2000 and one.unit == "gram" else one.unit  # noqa: PLR2004
    return ""
