"""Moments that a text mentions: days, months, times of day, and a day with its time; relative ones count from a given day.

They are read by the languages' own rules and by Duckling; what both leave open the words of quantities.yaml decide.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from callwright.language.dates import HALF_DAY, RELATIVE, YEARLESS, find_dates, find_times, other_half
from callwright.language.numbers import find_numbers
from callwright.language.packs import LanguagePattern, signs
from callwright.language.readers.duckling_reader import DucklingEntity, read
from callwright.language.readers.segmenter import counts_things, is_thing
from callwright.language.readers.units import QuantityWords, quantity_words, unit_named
from callwright.language.text import Found

UNKNOWN_NOW = datetime(2001, 1, 1, tzinfo=UTC)  # a Monday; what depends on it is not read
_COUNTED = LanguagePattern("@{relative_day}")  # words that say which day it is, counted from today
_AROUND = 30  # characters around a time in which words name its half of the day
_FIRST_YEAR, _HALF_A_YEAR, _WEEK = 1900, 183, 7
_ISO_DAY = len("2001-01-01")
_A_YEAR = timedelta(days=366)
_WHOLE_DAYS = ("day", "week", "month", "quarter", "year")
_NOON, _EVENING, _NIGHT_END = "12:00", "17:00", "04:00"
_LUNCH = ("11:00", "15:30")
_ONE_PM, _HALF = "13:00", 12  # half a day


class Moment(NamedTuple):
    """A day, a month, a time of day, or a day with a time, that a text mentions.

    `days` are ISO dates (or months, YYYY-MM), `clocks` HH:MM; more than one clock says that the text leaves open which.
    `last_day` and `last_clock` end a range. `earlier_day` is the same day a year before, where no year is
    stated. `is_figures` tells that a time is written as on a clock, 15:30.
    """

    start: int
    end: int
    days: frozenset[str]
    clocks: frozenset[str]
    last_day: str = ""
    last_clock: str = ""
    earlier_day: str = ""
    is_figures: bool = False

    @property
    def day(self) -> str:
        """One of its days, "" where it has none or is a month."""
        day = next(iter(self.days), "")
        return day if len(day) == _ISO_DAY else ""


@lru_cache(4096)
def find_moments(text: str, language: str, now: datetime) -> tuple[Moment, ...]:
    """The days and times that `text` mentions; relative ones and those without a year count from `now`."""
    words = quantity_words(language)
    plain = text
    for spelling, usual in words.respelled.items():
        plain = plain.replace(spelling, usual)
    timed = find_times(text)
    read_here = (_moment(one, plain, words, now) for one in read(plain, language, now) if one.dimension == "time")
    ruled = [*_weekdays(plain, language, now), *_days_on(plain, words, now)]
    found = [
        *(_as_ruled(one, timed, text) for one in read_here if one and not any(_is_within(one, each) for each in ruled)),
        *ruled,
        *_days_of_month(plain, words, now),
        *_by_rule(text),
        *_days_counted(plain, words, now),
    ]
    lower = text.lower()
    # the words may mean no time, though they may: "I fall asleep"
    idle, marks = words.patterns["idle_day"], signs(" ,.")
    found = [one for one in found if not idle.fullmatch(lower[one.start : one.end].strip(marks))]
    kept = [one for one in found if not _is_amount(one, lower, words)]
    kept += _anchored(lower, words, _widest(kept))
    read_once = [_decided(lower, words, one) for one in _widest(kept)]
    # where a text counts 24 hours once, it does so with each time that it writes alike
    counts_on = any(len(one.clocks) == 1 and min(one.clocks) >= _ONE_PM and one.is_figures for one in read_once)
    read_once = [
        one._replace(clocks=frozenset({min(one.clocks)}))
        if counts_on and len(one.clocks) > 1 and one.is_figures
        else one
        for one in _in_order(lower, words, read_once)
    ]
    return tuple(_ending(lower, words, read_once))


def _ending(text: str, words: QuantityWords, found: Sequence[Moment]) -> Iterator[Moment]:
    """What ends at a time or a day does so after it began: from nine in the morning to twelve, from Monday to Friday."""
    before: Moment | None = None
    for read_alone in found:
        one = read_alone
        if before and words.patterns["until"].fullmatch(text[before.end : one.start]):
            clocks = (
                {each for clock in one.clocks for each in (clock, other_half(clock))} if not one.days else set[str]()
            )
            later = [clock for clock in clocks if len(before.clocks) == 1 and clock > min(before.clocks)]
            names_part = words.patterns["part_of_day"].search(text[one.start : one.end])
            if later and (len(one.clocks) > 1 or not names_part):
                one = one._replace(clocks=frozenset({min(later)}))
            if not one.clocks and before.day and one.day and one.day < before.day:  # the Friday after that Monday
                one = one._replace(days=frozenset({_later(one.day, _WEEK)}))
        yield one
        before = one


def _is_within(one: Moment, ruled: Moment) -> bool:
    """Whether Duckling begins to read in the midst of what the language's rules read, or reads the same words otherwise."""
    is_same = (one.start, one.end) == (ruled.start, ruled.end) and one.last_day != ruled.last_day
    return is_same or ruled.start < one.start < ruled.end


def _as_ruled(one: Moment, timed: Sequence[Found], text: str) -> Moment:
    """A moment with the time of day that the language's rules read in its figures, where Duckling reads another."""
    inside = [
        each for each in timed if one.start <= each.start and each.end == one.end and text[one.end - 1].isdecimal()
    ]
    within = [_clocks(each) for each in inside]
    is_other = len(within) == 1 and one.clocks and not one.last_clock and one.clocks.isdisjoint(within[0])
    return one._replace(clocks=within[0]) if is_other else one


def _later(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def _in_order(text: str, words: QuantityWords, found: Sequence[Moment]) -> Iterator[Moment]:
    """Days of a month that was stated before count from there: from January 4th to the 18th."""
    anchor = ""
    for one in found:
        quote = text[one.start : one.end]
        if anchor and one.day and not one.last_day and words.patterns["bare_day"].fullmatch(quote.strip()):
            later = anchor  # the first day with this number that is not before the anchor
            while later[8:] != one.day[8:]:
                later = _later(later, 1)
            yield one._replace(days=frozenset({later}))
        else:
            yield one
            anchor = one.day if one.day and words.patterns["anchor"].search(quote) else anchor


def _anchored(text: str, words: QuantityWords, found: Sequence[Moment]) -> Iterator[Moment]:
    """Days that count from another that is stated: the day before Christmas, back the next day, a week on Friday."""
    counted = (("day_before", -1, False), ("day_after", 1, False), ("next_day", 1, True), ("week_on", _WEEK, False))
    for name, days, is_before in counted:
        for match in words.patterns[name].finditer(text):
            start, end = match.span()
            stated = [
                one for one in found
                if one.day and (
                    one.end <= start if is_before
                    else abs(one.start - end) <= 1 or abs(start - one.end) <= 1 or one.start <= end <= one.end
                )
            ]  # fmt: skip
            if stated and is_before:
                yield Moment(start, end, frozenset({_later(stated[-1].day, days)}), frozenset())
            elif stated:
                near = stated[0]
                day = frozenset({_later(near.day, days)})
                yield Moment(min(start, near.start), max(end, near.end), day, near.clocks)


def _by_rule(text: str) -> Iterator[Moment]:
    for found in find_dates(text):
        if found.rule not in (YEARLESS, RELATIVE):
            yield Moment(found.start, found.end, frozenset({str(found.value)}), frozenset())
    for time in find_times(text):
        is_figures = _is_figures(text[time.start : time.end])
        yield Moment(time.start, time.end, frozenset(), _clocks(time), is_figures=is_figures)


def _is_figures(quote: str) -> bool:
    return bool(re.search(r"\d{1,2}:\d{2}(?!\s*[ap])", quote.lower()))


def _clocks(time: Found) -> frozenset[str]:
    value = str(time.value)
    return frozenset({value, other_half(value)} if time.rule == HALF_DAY else {value})


def _is_amount(one: Moment, text: str, words: QuantityWords) -> bool:
    """Whether a unit follows, or an amount begins within: "at 10 minutes", "the twelve-minute mark", "zone 3, half an hour"."""
    if any(one.start < match.start() < one.end < match.end() for match in words.patterns["half_of"].finditer(text)):
        return True
    others = (match for name in ("decimal", "dimension") for match in words.patterns[name].finditer(text))
    if any(one.start < match.end() and match.start() < one.end for match in others):
        return True
    if words.patterns["bare_day"].fullmatch(text, one.start, one.end) and is_thing(text, one.end):
        return True
    is_day = words.patterns["bare_day"].search(text[one.start : one.end]) is not None
    if (words.patterns["scale_after"].match(text, one.end) and not is_day) or words.patterns["half_unit"].match(
        text, one.end
    ):
        return True
    if one.days and not one.clocks and words.patterns["part_of_day"].match(text, one.end):
        return False
    if words.patterns["weekday"].fullmatch(text, one.start, one.end):  # a day of the week counts nothing
        return False
    return any(pattern.match(text, one.end) for pattern, _ in words.units)


def _widest(found: Sequence[Moment]) -> list[Moment]:
    kept: list[Moment] = []
    for one in sorted(found, key=lambda each: (each.start - each.end, -len(each.days) - len(each.last_day))):
        wider = next((other for other in kept if one.start < other.end and other.start < one.end), None)
        if wider is None:
            kept.append(one)
        # a day before a time that was read more widely without it: "Thursday at ten | past two pm"
        elif one.day and not one.last_day and not one.last_clock and not wider.days and one.start < wider.start:
            kept.append(one._replace(end=wider.start, clocks=frozenset()))
    return sorted(kept, key=lambda one: one.start)


def _decided(text: str, words: QuantityWords, moment: Moment) -> Moment:
    """Keep the half of the day that the words around a time name."""
    if words.patterns["night"].search(text[moment.start : moment.end]):
        moment = moment._replace(clocks=frozenset(map(_at_night, moment.clocks)))
    if len(moment.clocks) <= 1:
        return moment
    around = text[max(0, moment.start - _AROUND) : moment.end + _AROUND]
    noon = frozenset(clock for clock in moment.clocks if _LUNCH[0] <= clock <= _LUNCH[1])
    if len(noon) == 1 and words.patterns["midday"].search(around):
        return moment._replace(clocks=noon)
    is_early = bool(words.patterns["morning"].search(around))
    if is_early == bool(words.patterns["evening"].search(around)):
        return moment
    kept = frozenset(clock for clock in moment.clocks if (clock < _NOON) == is_early)
    if not is_early and words.patterns["night"].search(around):  # 2:30 at night is no time of the afternoon
        kept = frozenset(map(_at_night, kept))
    return moment._replace(clocks=kept or moment.clocks)


def _at_night(clock: str) -> str:
    """2:30 of a night is no time of the afternoon."""
    other = other_half(clock)
    return other if _NOON <= clock < _EVENING and other < _NIGHT_END else clock


def find_weekdays(text: str, language: str) -> Iterator[tuple[int, int, int, int | None]]:
    """Where signs name days of the week, one or several at once, which day, and in how many weeks where that is said."""
    words = quantity_words(language)
    for match in words.patterns["weekday"].finditer(text):
        which, day = match["week"] or "", words.weekday_spellings.get(match["day"], match["day"])
        first = words.weekdays.index(day)
        weeks = which.count(words.week_later) - which.count(words.week_earlier) if which else None
        yield match.start(), match.end(), first, weeks
        end, last = match.end(), words.weekdays.find(match["day"])
        while -1 < last < (last := words.weekdays.find(text[end : end + 1] or " ")):
            end += 1
        is_number = words.patterns["numeral_on"].match(text, end) or counts_things(text, end)
        for at in range(match.end(), match.end() if is_number else end):
            yield at, at + 1, words.weekdays.index(text[at]), weeks


def _weekdays(text: str, language: str, now: datetime) -> Iterator[Moment]:
    """Weekdays of languages that count by calendar weeks: that of next week, whatever day is today."""
    monday = now.date() - timedelta(days=now.weekday())
    for start, day_end, day, weeks in find_weekdays(text, language):
        found = monday + timedelta(days=(weeks or 0) * _WEEK + day)
        if weeks is None and found < now.date():
            found += timedelta(days=_WEEK)
        following = next((one for one in find_times(text[day_end : day_end + 12]) if one.start <= 1), None)
        clocks = _clocks(following) if following else frozenset()
        end = day_end + (following.end if following else 0)
        yield Moment(start, end, frozenset({found.isoformat()}), clocks)


def _days_on(text: str, words: QuantityWords, now: datetime) -> Iterator[Moment]:
    """Days and weeks that are counted from today: in three days, in languages where Duckling takes them for all three."""
    for match in words.patterns["days_on"].finditer(text):
        numbers = find_numbers(match[1])
        unit = unit_named(match[2], words)
        if len(numbers) == 1 and unit:
            days = float(str(numbers[0].value)) * unit.factor / 86400
            yield Moment(*match.span(), frozenset({_later(now.date().isoformat(), int(days))}), frozenset())


def _days_of_month(text: str, words: QuantityWords, now: datetime) -> Iterator[Moment]:
    """Two days of one month, the month said once; and a day of the month that is now, be it past."""
    for match in words.patterns["days_of_month"].finditer(text):
        month, first, last = (int(match[name]) for name in ("month", "first", "last"))
        year = now.year + ((month, first) < (now.month, now.day))
        try:
            days = [datetime(year, month, day, tzinfo=UTC).date().isoformat() for day in (first, last)]
        except ValueError:
            continue
        yield Moment(*match.span(), frozenset({days[0]}), frozenset(), days[1])
    for match in words.patterns["day_of_this_month"].finditer(text):
        try:
            yield Moment(*match.span(), frozenset({now.date().replace(day=int(match[1])).isoformat()}), frozenset())
        except ValueError:  # no day of this month
            continue


def _days_counted(text: str, words: QuantityWords, now: datetime) -> Iterator[Moment]:
    """Days that a word counts from today, alone or with a time of day: this morning; and two days in a row."""
    for match in words.patterns["counted_day"].finditer(text):
        first, *last = words.days_from_now[match[0]]
        days = [(now.date() + timedelta(days=each)).isoformat() for each in (first, *last)]
        at, end = match.span()
        timed = next((one for one in find_times(text) if at <= one.start <= end and at < one.end and not last), None)
        clocks, end = (_clocks(timed), timed.end) if timed else (frozenset(), end)
        yield Moment(at, end, frozenset(days[:1]), clocks, days[1] if last else "")


def _moment(one: DucklingEntity, text: str, words: QuantityWords, now: datetime) -> Moment | None:
    """What Duckling read as time; None for weekdays that the language counts otherwise, and for weeks and years."""
    quote = text[one.start : one.end]
    values = one.value.get("values") or [one.value]
    if words.patterns["weekday"].search(quote):
        return None
    if values[0].get("type") == "interval":
        found = _interval(one, values, quote.lower(), words)
        begun = values[0].get("from")
        if found and found.last_clock and begun and _stamp(begun).replace(tzinfo=None) == now.replace(tzinfo=None):
            days = frozenset({found.last_day} - {now.date().isoformat()})  # by seven on Friday
            return found._replace(days=days, clocks=frozenset({found.last_clock}), last_day="", last_clock="")
        return found
    stamps = [_stamp(each) for each in values if "value" in each]
    grain = values[0].get("grain")
    if not stamps or grain in ("year", "quarter", "week"):
        return None
    if grain == "month":
        return Moment(one.start, one.end, frozenset({stamps[0].strftime("%Y-%m")}), frozenset())
    has_clock = grain in ("hour", "minute", "second") and not words.patterns["from_now"].match(quote.lower())
    clocks = frozenset(stamp.strftime("%H:%M") for stamp in stamps) if has_clock else frozenset()
    if words.patterns["bare_twelve"].search(quote.lower()):
        clocks |= {other_half(clock) for clock in clocks}
    # a day was stated with the time where the readings are not on every day
    all_days = sorted({stamp.date() for stamp in stamps})
    is_told = (
        not has_clock
        or len(all_days) == 1
        or bool(_COUNTED.of(quote).search(quote))
        or min((later - day).days for day, later in pairwise(all_days)) > 1
    )
    day, earlier = stamps[0].date().isoformat(), ""
    # the same day a year earlier, or a week, where the readings are as far apart and no year is stated
    apart = (stamps[1] - stamps[0]).days if len(stamps) > 1 and not re.search(r"\d{4}", quote) else 0
    if apart == _WEEK:
        earlier = _later(day, -_WEEK)
    elif apart >= _HALF_A_YEAR and (stamps[0].month, stamps[0].day) == (stamps[1].month, stamps[1].day):
        earlier = f"{stamps[0].year - 1}{day[4:]}"
    days = frozenset({day} if is_told else set[str]())
    return Moment(one.start, one.end, days, clocks, earlier_day=earlier, is_figures=_is_figures(quote))


def _interval(
    one: DucklingEntity, values: Sequence[Mapping[str, Mapping[str, str]]], quote: str, words: QuantityWords
) -> Moment | None:
    begin, end = values[0].get("from"), values[0].get("to")
    if begin is None or end is None:  # an open one
        only = begin or end
        if only is None or only["grain"] not in ("day", "hour", "minute"):
            return None
        stamp = _stamp(only)
        day = stamp.date().isoformat()
        open_clocks = frozenset({stamp.strftime("%H:%M")} if only["grain"] != "day" else set[str]())
        earlier = f"{stamp.year - 1}{day[4:]}" if len(values) > 1 else ""
        return Moment(one.start, one.end, frozenset({day}), open_clocks, earlier_day=earlier)
    first, last = _stamp(begin), _stamp(end)
    if first.year < _FIRST_YEAR:
        return None
    is_month_last = words.patterns["month_at_end"].fullmatch(quote)
    if end["grain"] in _WHOLE_DAYS or is_month_last:
        # the end is the first moment after
        last -= timedelta(days=1) if end["grain"] in _WHOLE_DAYS else timedelta(minutes=1)
        first_day = int(is_month_last["first"]) if is_month_last else 0
        # a range whose month (then the first is only a day) or whose year is stated with the last one alone
        if 0 < first_day <= last.day:
            first = last.replace(day=first_day)
        elif re.search(r"\d{4}$", quote.rstrip()) and last - first > _A_YEAR:
            first = first.replace(year=last.year - ((first.month, first.day) > (last.month, last.day)))
        return Moment(one.start, one.end, frozenset({first.date().isoformat()}), frozenset(), last.date().isoformat())
    if words.patterns["half_at_end"].search(quote) and (last - first) > timedelta(hours=_HALF):
        first += timedelta(hours=_HALF)  # between 2 and 4 pm
    if not words.patterns["end_within"].search(quote) or not (last.hour or last.minute):
        last -= {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}.get(end["grain"], timedelta())
    days, clocks = frozenset({first.date().isoformat()}), frozenset({first.strftime("%H:%M")})
    return Moment(one.start, one.end, days, clocks, last.date().isoformat(), last.strftime("%H:%M"))


def _stamp(value: Mapping[str, str]) -> datetime:
    return datetime.fromisoformat(value["value"])
