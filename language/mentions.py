"""What a text mentions of quantities and of time: quantities with unit and bound, days and times of day.

Numbers are read by the languages' own rules and by Duckling, times by both; units and the words around a quantity stand
in each language's quantities.yaml.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

import yaml

from language.dates import RELATIVE, YEARLESS, find_dates
from language.duckling_reader import DucklingEntity, read
from language.names import split_name
from language.numbers import find_numbers
from language.text import folded
from language.times import HALF_DAY, find_times, other_half

Bound = Literal["", "most", "least"]
UNKNOWN_NOW = datetime(2001, 1, 1, tzinfo=UTC)  # a Monday; what depends on it is not read
_BEFORE, _AFTER, _AROUND = 60, 22, 30  # characters around a mention in which words qualify it
_FIRST_YEAR, _HALF_A_YEAR, _WEEK, _DOZEN = 1900, 183, 7, 12
_CLAUSE_END = re.compile(r"[.;!?,]")
_SHORTEST_NAME = 3  # "m" and "s" in a parameter's name name no unit
_NO_UNITS = frozenset({"min", "max", "second", "start"})  # minimum, maximum, the second one
_ENGLISH = "en"  # most schemas are in English, whatever people speak


class Unit(NamedTuple):
    """A unit of measure: what it measures, and how many base units of that it is."""

    dimension: str
    factor: float


class Quantity(NamedTuple):
    """A number that a text mentions, in the unit said, None where it says none.

    `number_end` is where the number ends and its unit begins. `bound` tells whether it is the most or the least that is
    wanted; `is_estimate`, that it is not meant exactly; `place` is 1 for the first and 2 for the last of a range, else 0.
    """

    value: float
    unit: Unit | None
    start: int
    end: int
    number_end: int
    bound: Bound = ""
    is_estimate: bool = False
    place: int = 0


class Moment(NamedTuple):
    """A day, a month, a time of day, or a day with a time, that a text mentions.

    `days` are ISO dates (or months, YYYY-MM), `clocks` HH:MM; more than one clock says that the text leaves open which.
    `last_day` and `last_clock` end a range. `earlier_day` is the same day a year before, where no year is stated.
    """

    start: int
    end: int
    days: frozenset[str]
    clocks: frozenset[str]
    last_day: str = ""
    last_clock: str = ""
    earlier_day: str = ""


class QuantityWords(NamedTuple):
    """How a language words units and what stands around quantities and times."""

    units: tuple[tuple[re.Pattern[str], Unit], ...]
    patterns: Mapping[str, re.Pattern[str]]
    shares: Mapping[str, float]
    scales: Mapping[str, float]
    respelled: Mapping[str, str]
    weekdays: str
    weekday_spellings: Mapping[str, str]
    week_later: str
    week_earlier: str


@lru_cache(16)
def quantity_words(language: str) -> QuantityWords:
    """The words of a language for quantities, from its quantities.yaml."""
    data = yaml.safe_load(files("language").joinpath(language, "quantities.yaml").read_text(encoding="utf-8"))
    units = [
        (pattern, Unit(dimension, float(factor)))
        for dimension, rows in data.pop("units").items()
        for pattern, factor in rows
    ]
    units.sort(key=lambda one: -max(map(len, one[0].split("|"))))
    whole = "(?:" + "|".join(pattern for pattern, _ in units) + ")"
    plain = {name: data.pop(name) for name in QuantityWords._fields if name in data}
    return QuantityWords(
        units=tuple((re.compile(rf"\s*-?\s*(?:{pattern})(?![a-z])"), unit) for pattern, unit in units),
        patterns={name: re.compile(pattern.replace("{0}", whole)) for name, pattern in data.items()},
        **plain,
    )


def unit_of(name: str, description: str, language: str) -> Unit | None:
    """The unit that a parameter counts in, by its name or its description; None where they name none, or several."""
    tokens = split_name(name)
    candidates = [token for token in tokens if len(token) >= _SHORTEST_NAME and token not in _NO_UNITS]
    candidates += [token for token in tokens[-1:] if len(token) == _SHORTEST_NAME - 1]
    languages = tuple(dict.fromkeys((language, _ENGLISH)))
    for token in candidates:
        for one in languages:
            unit = _unit_named(token, quantity_words(one))
            if unit is not None and unit.dimension != "money":
                return unit
    named = {unit for one in languages for unit in _units_in(description.lower(), quantity_words(one))}
    return next(iter(named)) if len(named) == 1 else None


def _units_in(description: str, words: QuantityWords) -> Iterator[Unit]:
    for match in words.patterns["named_unit"].finditer(description):
        unit = _unit_named(next(filter(None, match.groups()), ""), words)
        if unit is not None and unit.dimension != "money":
            yield unit


def _unit_named(stated: str, words: QuantityWords) -> Unit | None:
    return next((unit for pattern, unit in words.units if pattern.fullmatch(stated)), None)


@lru_cache(4096)
def find_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """The quantities in `text`, none of them part of a date or a time of day."""
    words = quantity_words(language)
    plain = folded(text).text
    if len(plain) != len(text):  # a character that unfolds to several: offsets would not be the text's
        plain = text.lower()
    found = [*_unit_shares(plain, words), *_numbers(text, plain, words, language)]
    kept: list[Quantity] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(_qualified(plain, words, _ranged(plain, words, kept)))


def _unit_shares(text: str, words: QuantityWords) -> Iterator[Quantity]:
    """Half an hour, an hour, an hour and a half."""
    for match in words.patterns["half_of"].finditer(text):
        unit = _unit_named(match[2], words)
        if unit is not None:
            yield Quantity(words.shares[match[1]], unit, *match.span(), match.end(1))
    for match in words.patterns["one_of"].finditer(text):
        unit = _unit_named(match[1], words)
        if unit is not None:
            more = 0.5 if words.patterns["and_a_half"].search(match.group()) else 0.0
            yield Quantity(1 + more, unit, *match.span(), match.start(1))


def _numbers(text: str, plain: str, words: QuantityWords, language: str) -> Iterator[Quantity]:
    idle = [match.span() for match in words.patterns["idle_number"].finditer(plain)]
    taken = [(one.start, one.end) for one in find_moments(text, language, UNKNOWN_NOW)]
    for start, end, number in _bare_numbers(text, language):
        if any(first <= start and end <= last for first, last in idle):
            continue
        if any(first <= start and end <= last and last - first > end - start for first, last in taken):
            continue
        yield _measured(plain, words, start, end, _scaled(plain, words, start, end, number))


def _bare_numbers(text: str, language: str) -> list[tuple[int, int, float]]:
    spans = [(found.start, found.end, float(str(found.value))) for found in find_numbers(text)]
    for one in read(text, language, UNKNOWN_NOW):
        if one.dimension == "number" and not any(start < one.end and one.start < end for start, end, _ in spans):
            spans.append((one.start, one.end, float(one.value["value"])))
    return sorted(spans)


def _scaled(text: str, words: QuantityWords, start: int, end: int, number: float) -> float:
    """The number with what the words beside it make of it: half a million, a baker's dozen."""
    if number == _DOZEN and words.patterns["long_dozen"].search(text[max(0, start - 10) : end + 8]):
        return number + 1
    return number / 2 if words.patterns["half_before"].search(text[:start]) else number


def _measured(text: str, words: QuantityWords, start: int, end: int, number: float) -> Quantity:
    more = words.patterns["half_unit"].match(text, end)
    unit, last = _unit_after(text, more.end() if more else end, words)
    if more and unit is not None:
        return Quantity(number + 0.5, unit, start, last, more.end())
    if more:
        unit, last = _unit_after(text, end, words)
    half = words.patterns["and_a_half"].match(text, last) if unit is not None else None
    if half:
        return Quantity(number + 0.5, unit, start, half.end(), end)
    return Quantity(number, unit, start, last, end)


def _unit_after(text: str, at: int, words: QuantityWords) -> tuple[Unit | None, int]:
    best: tuple[Unit | None, int] = (None, at)
    for pattern, unit in words.units:
        match = pattern.match(text, at)
        if match and match.end() > best[1]:
            best = unit, match.end()
    return best


def _ranged(text: str, words: QuantityWords, found: Sequence[Quantity]) -> list[Quantity]:
    """Mark the ends of ranges; the first takes unit and scale of the last where it has none: "50 to 90 thousand euros"."""
    marked = list(found)
    scale = words.patterns["scale"]
    for index in range(len(found) - 1):
        one, other = marked[index], marked[index + 1]
        if not words.patterns["between"].fullmatch(text[one.end : other.start]):
            continue
        if one.unit is not None and one.unit != other.unit:
            continue
        word = scale.search(text[other.start : other.number_end])
        share = words.scales[word.group()] if word and not scale.search(text[one.start : one.number_end]) else 1
        value = one.value * share if one.value < share else one.value
        marked[index] = one._replace(value=value, unit=other.unit, place=1)
        marked[index + 1] = other._replace(place=2)
    return marked


def _qualified(text: str, words: QuantityWords, found: Sequence[Quantity]) -> Iterator[Quantity]:
    for index, one in enumerate(found):
        first = max(found[index - 1].end if index else 0, one.start - _BEFORE)
        last = found[index + 1].start if index + 1 < len(found) else len(text)
        before = _CLAUSE_END.split(text[first : one.start])[-1]
        after = _CLAUSE_END.split(text[one.end : last])[0]
        after = after if len(after) < _AFTER else ""
        is_estimate = words.patterns["about_before"].search(before[-18:]) or words.patterns["about_after"].search(after)
        yield one._replace(bound=_bound(words, before, after), is_estimate=bool(is_estimate))


def _bound(words: QuantityWords, before: str, after: str) -> Bound:
    for side in (before, after):
        least, most = words.patterns["least"].search(side), words.patterns["most"].search(side)
        cue = most if most and not (least and least.start() < most.start()) else least
        if cue:
            is_flipped = bool(words.patterns["flips"].search(side[: cue.start()]))
            return "most" if (cue is most) != is_flipped else "least"
    return ""


@lru_cache(4096)
def find_moments(text: str, language: str, now: datetime) -> tuple[Moment, ...]:
    """The days and times that `text` mentions; relative ones and those without a year count from `now`."""
    words = quantity_words(language)
    plain = text
    for spelling, usual in words.respelled.items():
        plain = plain.replace(spelling, usual)
    read_here = [_moment(one, plain, words) for one in read(plain, language, now) if one.dimension == "time"]
    found = [one for one in read_here if one is not None]
    found += [*_weekdays(plain, words, now), *_days_of_month(plain, words, now), *_by_rule(text)]
    lower = text.lower()
    kept = (one for one in found if not _is_amount(one, lower, words) and not _is_idle(one, lower, words))
    return tuple(_decided(lower, words, one) for one in _widest(list(kept)))


def _by_rule(text: str) -> Iterator[Moment]:
    for date in find_dates(text):
        if date.rule not in (YEARLESS, RELATIVE):
            yield Moment(date.start, date.end, frozenset({str(date.value)}), frozenset())
    for time in find_times(text):
        yield Moment(time.start, time.end, frozenset(), _clocks(str(time.value), time.rule))


def _clocks(value: str, rule: str) -> frozenset[str]:
    return frozenset({value, other_half(value)} if rule == HALF_DAY else {value})


def _is_amount(one: Moment, text: str, words: QuantityWords) -> bool:
    """Whether a unit follows: "at 10 minutes" is no time of day, nor is "the twelve-minute mark"."""
    return any(pattern.match(text, one.end) for pattern, _ in words.units)


def _is_idle(one: Moment, text: str, words: QuantityWords) -> bool:
    """Whether the words mean no time, though they may: "I fall asleep"."""
    return bool(words.patterns["idle_day"].fullmatch(text[one.start : one.end].strip(" ,.，。")))


def _widest(found: Sequence[Moment]) -> list[Moment]:
    kept: list[Moment] = []
    for one in sorted(found, key=lambda each: (each.start - each.end, -len(each.days) - len(each.last_day))):
        if not any(one.start < other.end and other.start < one.end for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _decided(text: str, words: QuantityWords, moment: Moment) -> Moment:
    """Keep the half of the day that the words around a time name."""
    if len(moment.clocks) <= 1:
        return moment
    around = text[max(0, moment.start - _AROUND) : moment.end + _AROUND]
    is_early = bool(words.patterns["morning"].search(around))
    if is_early == bool(words.patterns["evening"].search(around)):
        return moment
    kept = frozenset(clock for clock in moment.clocks if (clock < "12:00") == is_early)
    return moment._replace(clocks=kept or moment.clocks)


def _weekdays(text: str, words: QuantityWords, now: datetime) -> Iterator[Moment]:
    """Weekdays of languages that count by calendar weeks: that of next week, whatever day is today."""
    monday = now.date() - timedelta(days=now.weekday())
    for match in words.patterns["weekday"].finditer(text):
        which, day = match["week"] or "", words.weekday_spellings.get(match["day"], match["day"])
        weeks = which.count(words.week_later) - which.count(words.week_earlier)
        found = monday + timedelta(days=weeks * _WEEK + words.weekdays.index(day))
        if not which and found < now.date():
            found += timedelta(days=_WEEK)
        following = [one for one in find_times(text[match.end() : match.end() + 12]) if one.start <= 1]
        clocks = _clocks(str(following[0].value), following[0].rule) if following else frozenset()
        end = match.end() + (following[0].end if following else 0)
        yield Moment(match.start(), end, frozenset({found.isoformat()}), clocks)


def _days_of_month(text: str, words: QuantityWords, now: datetime) -> Iterator[Moment]:
    """Two days of one month, the month said once."""
    for match in words.patterns["days_of_month"].finditer(text):
        month, first, last = (int(match[name]) for name in ("month", "first", "last"))
        year = now.year + ((month, first) < (now.month, now.day))
        try:
            days = [datetime(year, month, day, tzinfo=UTC).date().isoformat() for day in (first, last)]
        except ValueError:
            continue
        yield Moment(*match.span(), frozenset({days[0]}), frozenset(), days[1])


def _moment(one: DucklingEntity, text: str, words: QuantityWords) -> Moment | None:
    """What Duckling read as time; None for weekdays that the language counts otherwise, and for weeks and years."""
    quote = text[one.start : one.end]
    values = one.value.get("values") or [one.value]
    if words.patterns["weekday"].search(quote):
        return None
    if values[0].get("type") == "interval":
        return _interval(one, values)
    stamps = [_stamp(each) for each in values if "value" in each]
    grain = values[0].get("grain")
    if not stamps or grain in ("year", "quarter", "week"):
        return None
    if grain == "month":
        return Moment(one.start, one.end, frozenset({stamps[0].strftime("%Y-%m")}), frozenset())
    has_clock = grain in ("hour", "minute", "second") and not words.patterns["from_now"].match(quote.lower())
    clocks = frozenset(stamp.strftime("%H:%M") for stamp in stamps) if has_clock else frozenset()
    days = frozenset({stamps[0].date().isoformat()}) if not has_clock or _says_day(stamps) else frozenset()
    return Moment(one.start, one.end, days, clocks, earlier_day=_earlier(stamps, quote))


def _says_day(stamps: Sequence[datetime]) -> bool:
    """Whether a day was stated with the time: then the readings are not on every day."""
    days = sorted({stamp.date() for stamp in stamps})
    return len(days) == 1 or min((days[at + 1] - days[at]).days for at in range(len(days) - 1)) > 1


def _earlier(stamps: Sequence[datetime], quote: str) -> str:
    """The same day a year earlier, where the readings are years apart and no year is stated."""
    if len(stamps) <= 1 or (stamps[1] - stamps[0]).days < _HALF_A_YEAR or re.search(r"\d{4}", quote):
        return ""
    return f"{stamps[0].year - 1}{stamps[0].date().isoformat()[4:]}"


def _interval(one: DucklingEntity, values: Sequence[Mapping[str, Mapping[str, str]]]) -> Moment | None:
    begin, end = values[0].get("from"), values[0].get("to")
    if begin is None or end is None:
        return _open_interval(one, begin or end, is_repeated=len(values) > 1)
    first, last = _stamp(begin), _stamp(end)
    if first.year < _FIRST_YEAR:
        return None
    days = frozenset({first.date().isoformat()})
    if end["grain"] == "day":  # the end is the first day after
        return Moment(one.start, one.end, days, frozenset(), (last - timedelta(days=1)).date().isoformat())
    step = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}.get(end["grain"], timedelta())
    last -= step
    clocks = frozenset({first.strftime("%H:%M")})
    return Moment(one.start, one.end, days, clocks, last.date().isoformat(), last.strftime("%H:%M"))


def _open_interval(one: DucklingEntity, only: Mapping[str, str] | None, *, is_repeated: bool) -> Moment | None:
    if only is None or only["grain"] not in ("day", "hour", "minute"):
        return None
    stamp = _stamp(only)
    clocks = frozenset({stamp.strftime("%H:%M")}) if only["grain"] != "day" else frozenset()
    day = stamp.date().isoformat()
    earlier = f"{stamp.year - 1}{day[4:]}" if is_repeated else ""
    return Moment(one.start, one.end, frozenset({day}), clocks, earlier_day=earlier)


def _stamp(value: Mapping[str, str]) -> datetime:
    return datetime.fromisoformat(value["value"])
