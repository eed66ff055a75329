"""The quantities and times that a text mentions: each with its unit, its bound and whether it is only an estimate."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

import yaml

from language.duckling_reader import Reading, read
from language.dates import RELATIVE, YEARLESS, find_dates
from language.text import folded
from language.numbers import find_numbers
from language.times import HALF_DAY, find_times, other_half

Bound = Literal["", "most", "least"]
UNKNOWN_NOW = datetime(2001, 1, 1, tzinfo=UTC)  # a Monday; what depends on it is not read
_NEAR = 60  # characters around a quantity in which words qualify it
_WEEK = 7
_FIRST_YEAR = 1900
_HALF_A_YEAR = 183
_SCALES = {"thousand": 1000, "k": 1000, "million": 1_000_000, "m": 1_000_000, "万": 10_000, "亿": 100_000_000}


class Unit(NamedTuple):
    """A unit of measure: what it measures, and how many base units it is."""

    dimension: str
    factor: float


class Quantity(NamedTuple):
    """A number that a text mentions, in the unit said, None where it said none.

    `bound` tells whether it is the most or the least that is wanted; `is_estimate`, that it is not meant exactly;
    `place` is 1 for the first and 2 for the last of a range, 0 for a number by itself.
    """

    value: float
    unit: Unit | None
    start: int
    end: int
    number_end: int  # where the number itself ends, before its unit
    bound: Bound = ""
    is_estimate: bool = False
    place: int = 0


class Moment(NamedTuple):
    """A day, a time of day or both that a text mentions.

    `days` are ISO dates and `clocks` HH:MM; more than one says that the text leaves open which. `last_day` and
    `last_clock` end a range.
    """

    start: int
    end: int
    days: frozenset[str]
    clocks: frozenset[str]
    last_day: str = ""
    last_clock: str = ""
    earlier_day: str = ""  # the day a year before, where no year is said and that one is nearer


class _Words(NamedTuple):
    units: tuple[tuple[re.Pattern[str], Unit], ...]
    unit: str
    patterns: dict[str, re.Pattern[str]]


@lru_cache(16)
def words_of(language: str) -> _Words:
    """How a language words units and qualifies quantities."""
    data = yaml.safe_load(files("language").joinpath(language, "quantities.yaml").read_text(encoding="utf-8"))
    units = [
        (pattern, Unit(dimension, float(factor)))
        for dimension, rows in data.pop("units").items()
        for pattern, factor in rows
    ]
    units.sort(key=lambda one: -max(map(len, one[0].split("|"))))
    whole = "|".join(pattern for pattern, _ in units)
    compiled = tuple((re.compile(rf"\s*-?\s*(?:{pattern})(?![a-z])"), unit) for pattern, unit in units)
    patterns = {name: re.compile(pattern.format(f"(?:{whole})") if "{0}" in pattern else pattern) for name, pattern in data.items()}
    return _Words(compiled, whole, patterns)


@lru_cache(4096)
def find_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """The quantities in `text`, none of them part of a date or a time of day."""
    words = words_of(language)
    plain = folded(text)
    found = [*_halves(plain.text, words), *_numbers(text, plain.text, words, language)]
    kept: list[Quantity] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(_qualified(plain.text, words, _ranged(plain.text, words, kept)))


def unit_of(name: str, description: str, language: str) -> Unit | None:
    """The unit that a parameter counts in, by the words of its name or its description; None where none is named."""
    words = words_of(language)
    tokens = re.sub(r"[_\-.]+|(?<=[a-z])(?=[A-Z])", " ", name).lower().split()
    for token in tokens:
        if len(token) > 2 and token not in ("min", "max", "second", "start"):  # noqa: PLR2004
            for lang in {language, "en"}:
                unit = _unit_named(token, words_of(lang))
                if unit and unit.dimension != "money":
                    return unit
    if tokens and tokens[-1] in ("mb", "kg", "km", "cm", "kb", "gb"):
        return _unit_named(tokens[-1], words_of("en"))
    named = {unit for lang in {language, "en"} for unit in _units_in(description.lower(), words_of(lang))}
    return next(iter(named)) if len(named) == 1 else None


def _units_in(description: str, words: _Words) -> Iterator[Unit]:
    for match in words.patterns["named_unit"].finditer(description):
        said = next(filter(None, match.groups()), "")
        unit = _unit_named(said, words)
        if unit and unit.dimension != "money":
            yield unit


def _unit_named(said: str, words: _Words) -> Unit | None:
    return next((unit for pattern, unit in words.units if pattern.fullmatch(said)), None)


def _halves(text: str, words: _Words) -> Iterator[Quantity]:
    shares = {"half": 0.5, "半": 0.5, "a quarter of": 0.25, "quarter of": 0.25, "three quarters of": 0.75}
    for match in words.patterns["half_of"].finditer(text):
        unit = _unit_named(match[2], words)
        if unit:
            yield Quantity(shares[match[1]], unit, *match.span(), match.end(1))
    for match in words.patterns["one_of"].finditer(text):
        unit = _unit_named(match[1], words)
        if unit:
            more = 0.5 if match.group().endswith("half") else 0.0
            yield Quantity(1 + more, unit, *match.span(), match.start(1))


def _numbers(text: str, plain: str, words: _Words, language: str) -> Iterator[Quantity]:
    spans = [(found.start, found.end, float(str(found.value))) for found in find_numbers(text)]
    for one in read(text, language, UNKNOWN_NOW):
        if one.dimension == "number" and not any(start < one.end and one.start < end for start, end, _ in spans):
            spans.append((one.start, one.end, float(one.value["value"])))
    moments = find_moments(text, language, UNKNOWN_NOW)
    idle = [match.span() for match in words.patterns["idle_number"].finditer(plain)]
    for start, end, number in sorted(spans):
        if any(first <= start and end <= last for first, last in idle):
            continue
        if any(moment.start <= start and end <= moment.end and (moment.end - moment.start) > (end - start) for moment in moments):
            continue
        value, more = number, words.patterns["half_unit"].match(plain, end)
        unit, last = _unit_after(plain, more.end(), words) if more else _unit_after(plain, end, words)
        if more and unit:
            yield Quantity(value + 0.5, unit, start, last, more.end())
            continue
        dozen = words.patterns["long_dozen"].search(plain[max(0, start - 10) : end + 8])
        value = value + 1 if dozen and value == 12 else value  # noqa: PLR2004
        if words.patterns["half_before"].search(plain[:start]) or (plain[start : start + 2] == "a " and plain[:start].endswith("half ")):
            value = value / 2
        half = words.patterns["and_a_half"].match(plain, last)
        if half and unit:
            value, last = value + 0.5, half.end()
        yield Quantity(value, unit, start, last, end)


def _unit_after(text: str, at: int, words: _Words) -> tuple[Unit | None, int]:
    best: tuple[Unit | None, int] = (None, at)
    for pattern, unit in words.units:
        match = pattern.match(text, at)
        if match and match.end() > best[1]:
            best = unit, match.end()
    return best


def _ranged(text: str, words: _Words, found: list[Quantity]) -> list[Quantity]:
    """Mark the ends of ranges; the first takes the unit of the last where it has none."""
    marked = list(found)
    for index in range(len(found) - 1):
        one, other = marked[index], marked[index + 1]
        between = text[one.end : other.start]
        if words.patterns["between"].fullmatch(between) and (one.unit is None or one.unit == other.unit):
            scale = words.patterns["scale"].search(text[other.start : other.number_end])
            share = _SCALES[scale.group()] if scale else 1
            is_short = one.value < share and not words.patterns["scale"].search(text[one.start : one.number_end])
            marked[index] = one._replace(value=one.value * (share if is_short else 1), unit=other.unit, place=1)
            marked[index + 1] = other._replace(place=2)
    return marked


def _qualified(text: str, words: _Words, found: list[Quantity]) -> Iterator[Quantity]:
    for index, one in enumerate(found):
        first = max(found[index - 1].end if index else 0, one.start - _NEAR)
        last = min(found[index + 1].start if index + 1 < len(found) else len(text), one.end + _NEAR)
        before = re.split(r"[.;!?。！？；，,]", text[first : one.start])[-1]
        after = re.split(r"[.;!?。！？；，,]", text[one.end : last])[0]
        after = after if len(after) < 22 else ""  # noqa: PLR2004
        yield one._replace(
            bound=_bound(words, before, after),
            is_estimate=bool(words.patterns["about_before"].search(before[-18:]) or words.patterns["about_after"].search(after[:14])),
        )


def _bound(words: _Words, before: str, after: str) -> Bound:
    for side in (before, after):
        least, most = words.patterns["least"].search(side), words.patterns["most"].search(side)
        cue = most if most and not (least and least.start() < most.start()) else least
        if cue:
            flipped = bool(words.patterns["flips"].search(side[: cue.start()]))
            return "most" if (cue is most) != flipped else "least"
    return ""


@lru_cache(4096)
def find_moments(text: str, language: str, now: datetime) -> tuple[Moment, ...]:
    """The days and times that `text` mentions; relative ones and those without a year count from `now`."""
    plain = _plain_days(text)
    found = [moment for one in read(plain, language, now) if one.dimension == "time" and (moment := _moment(one, plain))]
    found += [*_weekdays(plain, now), *_days_of_month(plain, now)]
    units = words_of(language).units
    for date in find_dates(text):
        if date.rule not in (YEARLESS, RELATIVE):
            found.append(Moment(date.start, date.end, frozenset({str(date.value)}), frozenset()))
    for time in find_times(text):
        clocks = {str(time.value)} | ({other_half(str(time.value))} if time.rule == HALF_DAY else set())
        found.append(Moment(time.start, time.end, frozenset(), frozenset(clocks)))
    # "at 10 minutes" and "the twelve-minute mark" are no times of day, and "now" is no day that is chosen
    idle = words_of(language).patterns["idle_day"]
    found = [
        one for one in found
        if not ((one.clocks or one.last_day) and any(pattern.match(text.lower(), one.end) for pattern, _ in units))
        and not idle.fullmatch(text[one.start : one.end].lower().strip(" ,.，。"))
    ]  # fmt: skip
    return tuple(_decided(text, words_of(language), one) for one in _widest(found))


def _decided(text: str, words: _Words, moment: Moment) -> Moment:
    """Keep the half of the day that the words around a time name."""
    if len(moment.clocks) < 2:  # noqa: PLR2004
        return moment
    around = text[max(0, moment.start - 30) : moment.end + 30].lower()
    early, late = words.patterns["morning"].search(around), words.patterns["evening"].search(around)
    if bool(early) == bool(late):
        return moment
    kept = frozenset(clock for clock in moment.clocks if (clock < "12:00") == bool(early))
    return moment._replace(clocks=kept or moment.clocks)


def _widest(found: list[Moment]) -> Iterator[Moment]:
    kept: list[Moment] = []
    for one in sorted(found, key=lambda each: (each.start - each.end, -len(each.days) - len(each.last_day))):
        if not any(one.start < other.end and other.start < one.end for other in kept):
            kept.append(one)
    yield from sorted(kept)


def _plain_days(text: str) -> str:
    for spoken, plain in (("明儿", "明天"), ("后儿", "后天"), ("今儿", "今天"), ("昨儿", "昨天"), ("明早", "明早"), ("礼拜", "星期")):
        text = text.replace(spoken, plain)
    return text


_WEEKDAY = re.compile(r"(这个?|本|下下个?|下个?|上上个?|上个?)?(?:周|星期)([一二三四五六日天末])")


def _weekdays(text: str, now: datetime) -> Iterator[Moment]:
    """Weekdays in Chinese count by calendar weeks: 下周五 is the Friday of next week, whatever day is today."""
    monday = now.date() - timedelta(days=now.weekday())
    for match in _WEEKDAY.finditer(text):
        which, day = match[1] or "", "一二三四五六日".find(match[2].replace("天", "日").replace("末", "六"))
        weeks = which.count("下") - which.count("上")
        found = monday + timedelta(days=weeks * _WEEK + day)
        if not which and found < now.date():
            found += timedelta(days=_WEEK)
        clock = find_times(text[match.end() : match.end() + 12])
        near = [one for one in clock if one.start <= 1]
        end = match.end() + (near[0].end if near else 0)
        clocks = frozenset(_clocks_of(near[0].value, near[0].rule)) if near else frozenset()
        yield Moment(match.start(), end, frozenset({found.isoformat()}), clocks)


def _clocks_of(value: object, rule: str) -> set[str]:
    return {str(value)} | ({other_half(str(value))} if rule == HALF_DAY else set())


_DAYS_OF_MONTH = re.compile(r"(\d{1,2})月(\d{1,2})[号日]?(?:到|至|-|~)(\d{1,2})[号日]")


def _days_of_month(text: str, now: datetime) -> Iterator[Moment]:
    """Two days of one month, "12月12到14号"."""
    for match in _DAYS_OF_MONTH.finditer(text):
        month, first, last = map(int, match.groups())
        year = now.year + ((month, first) < (now.month, now.day))
        try:
            days = [datetime(year, month, day, tzinfo=UTC).date().isoformat() for day in (first, last)]
        except ValueError:
            continue
        yield Moment(*match.span(), frozenset({days[0]}), frozenset(), days[1])


def _moment(one: Reading, text: str) -> Moment | None:
    values = one.value.get("values") or [one.value]
    if any(mark in text[one.start : one.end] for mark in ("周", "星期")) and _WEEKDAY.search(text[one.start : one.end]):
        return None
    first = values[0]
    if first.get("type") == "interval":
        return _interval(one, first)
    stamps = [_stamp(each) for each in values if "value" in each]
    if not stamps or first.get("grain") in ("year", "quarter", "week"):
        return None
    if first["grain"] == "month":
        return Moment(one.start, one.end, frozenset({stamps[0].strftime("%Y-%m")}), frozenset())
    has_clock = first["grain"] in ("hour", "minute", "second") and not _is_span_of_day(one, text)
    clocks = frozenset(stamp.strftime("%H:%M") for stamp in stamps) if has_clock else frozenset()
    days = frozenset({stamps[0].date().isoformat()}) if _says_day(stamps, has_clock=has_clock) else frozenset()
    return Moment(one.start, one.end, days, clocks, earlier_day=_earlier(stamps, text[one.start : one.end]))


def _earlier(stamps: list[datetime], quote: str) -> str:
    """The same day a year earlier, where the readings are a year apart and no year is said."""
    if len(stamps) < 2 or (stamps[1] - stamps[0]).days < _HALF_A_YEAR or re.search(r"\d{4}", quote):  # noqa: PLR2004
        return ""
    try:
        return stamps[0].replace(year=stamps[0].year - 1).date().isoformat()
    except ValueError:
        return ""


def _is_span_of_day(one: Reading, text: str) -> bool:
    """Whether an amount of hours from now was read where days were meant: "in a fortnight"."""
    return text[one.start : one.end].lower().startswith("in a") or text[one.start : one.end].lower().startswith("in ")


def _says_day(stamps: list[datetime], *, has_clock: bool) -> bool:
    if not has_clock or len(stamps) == 1:
        return True
    days = sorted({stamp.date() for stamp in stamps})
    return len(days) == 1 or min((later - day).days for day, later in zip(days, days[1:], strict=False)) > 1


def _interval(one: Reading, value: dict[str, dict[str, str]]) -> Moment | None:
    begin, end = value.get("from"), value.get("to")
    if begin is None or end is None:
        only = begin or end
        if only is None or only["grain"] not in ("day", "hour", "minute"):
            return None
        stamp = _stamp(only)
        clock = frozenset({stamp.strftime("%H:%M")}) if only["grain"] != "day" else frozenset()
        day = stamp.date().isoformat()
        earlier = f"{stamp.year - 1}{day[4:]}" if len(one.value.get("values") or ()) > 1 else ""
        return Moment(one.start, one.end, frozenset({day}), clock, earlier_day=earlier)
    first, last = _stamp(begin), _stamp(end)
    if first.year < _FIRST_YEAR:
        return None
    if end["grain"] == "day":
        last -= timedelta(days=1)
        return Moment(one.start, one.end, frozenset({first.date().isoformat()}), frozenset(), last.date().isoformat())
    last -= timedelta(minutes=1) if end["grain"] == "minute" else timedelta(hours=1) if end["grain"] == "hour" else timedelta()
    return Moment(
        one.start, one.end, frozenset({first.date().isoformat()}), frozenset({first.strftime("%H:%M")}),
        last.date().isoformat(), last.strftime("%H:%M"),
    )  # fmt: skip


def _stamp(value: dict[str, str]) -> datetime:
    return datetime.fromisoformat(value["value"])
