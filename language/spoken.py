"""Days, times and numbers as people say them: one YAML page per language, `spoken.yaml`.

The same page serves for writing and reading. babel has the names of days, months and parts of a
day, and unicode-rbnf the words for numbers; a page holds what neither knows. A language without a
page uses babel's own long date, the 24-hour clock and numbers in digits.

On a page `say` holds babel's patterns (CLDR), in whose quoted parts `{ordinal}`, `{hour}` and
`{next}` stand for words. `read` holds regular expressions for folded text, in which `{day}`,
`{month}` and the page's own `slots` are filled in.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from functools import cache, cached_property, lru_cache
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from callwright.language.packs import fallback, has_folder, of
from callwright.language.protocol import MOST_DIGITS, ORDINAL, PERCENT, WORDS, Number
from callwright.language.text import Spans, folded
from callwright.warehouse.records import Language

if TYPE_CHECKING:
    from unicode_rbnf import RbnfEngine

NOON, DAY, HOUR = 12, 24, 60
_SLOT = re.compile(r"\{([a-z_]+)\}")
_GROUP = re.compile(r"\(\?P([<=])(\w+)([>)])")
_WORD = re.compile(r"[^\W\d_]+")
_GAP = re.compile(r"[\s-]*")
_GLUED = re.compile(r"[\d_-]$")
_LONGEST_DATE, _SMALL, _DECADE = 31, 1000, 10
_FAR, _LONGEST_PHRASE = 24, 8
_SCALES = (10**3, 10**6, 10**9)
_VERBOSE = "spellout-numbering-verbose"


class DateReading(NamedTuple):
    """A date at `start`..`end` of folded text; `is_open`: month and day may be swapped.

    It need not be a day of the calendar.
    """

    start: int
    end: int
    year: int | None
    month: int
    day: int
    is_open: bool = False


class ClockReading(NamedTuple):
    """A time of day at `start`..`end` of folded text; `is_open`: it may also be 12 hours later."""

    start: int
    end: int
    hour: int
    minute: int
    is_open: bool


class SpokenForms:
    """How one language says days, times and numbers."""

    def __init__(self, code: str, page: Mapping[str, Any]) -> None:
        """Read the forms of the language with this code from a page, which may be empty."""
        self._locale = str(page.get("locale", code))
        self._code = code
        self._dates: Mapping[str, Any] = page.get("dates") or {}
        self._clocks: Mapping[str, Any] = page.get("clocks") or {}
        self._numbers: Mapping[str, Any] = page.get("numbers") or {}
        self._own: Mapping[str, str] = page.get("slots") or {}
        self._moments: list[str] = page.get("moments") or ["{day}, {clock}"]

    # --- writing

    def write_date(self, day: date, rng: Random) -> str:
        """Return a day with its year in words."""
        from babel.dates import format_date

        shape = rng.choice(self._dates.get("say") or ["long"])
        written = format_date(day, shape, locale=self._locale)
        if "{" in written:
            return written.format(ordinal=self._ordinal(day.day))
        return written

    def write_clock(self, hour: int, minute: int, rng: Random) -> str:
        """Return a time of day in unambiguous words."""
        from babel.dates import format_time

        say: Mapping[Any, list[str]] = self._clocks.get("say") or {}
        name = {(NOON, 0): "noon", (0, 0): "midnight"}.get((hour, minute), "")
        shapes = [*say.get("any", ()), *say.get(name, ())]
        if not name:
            shapes += (*say.get(minute, ()), *(say.get("past", ()) if minute else ()))
        if hour > NOON or not shapes:
            shapes += say.get("late", ["HH:mm"])
        said = [(shape, hour + ("{next}" in shape)) for shape in shapes]
        # nobody says "half past twelve in the morning"
        shapes = [shape for shape, on in said if on % NOON or "{" not in shape] or shapes
        written = format_time(time(hour, minute), rng.choice(shapes), locale=self._locale)
        words = {"hour": self._hour(hour), "next": self._hour(hour + 1), "the": self._article(hour)}
        return written.format(**words) if "{" in written else written

    def write_moment(self, day: str, clock: str, rng: Random) -> str:
        """Combine the words for a day and the words for a time."""
        return rng.choice(self._moments).format(day=day, clock=clock)

    def number_forms(self, number: int) -> tuple[str, ...]:
        """Return the ways besides digits to state a whole number that is not negative.

        Forms that could be taken for something else are left out.
        """
        forms: list[str] = []
        if number >= _SMALL and self._numbers.get("groups"):
            from babel.numbers import format_decimal

            forms.append(format_decimal(number, locale=self._locale))
        for scale, shape in (self._numbers.get("scales") or {}).items():
            if number >= scale and number * 10 % scale == 0:
                forms.append(shape.format(f"{number / scale:.1f}".removesuffix(".0")))
        is_small = 1 < number < int(self._numbers.get("words_below", 0))
        is_short = is_small or number in self._numbers.get("round", ())
        if is_short and number not in self._numbers.get("never", ()):
            forms.append(_in_words(number, self._code))
        return tuple(forms)

    def _ordinal(self, day: int) -> str:
        """Return a day in digits with its ending, such as "3rd"."""
        from babel import Locale

        form = Locale.parse(self._locale).ordinal_form(day)
        return f"{day}{self._dates['endings'][form]}"

    def _hour(self, hour: int) -> str:
        on_clock = hour % NOON or NOON
        if "hours" in self._clocks:
            return str(self._clocks["hours"][on_clock - 1])
        return _in_words(on_clock, self._code)

    def _article(self, hour: int) -> str:
        one, several = self._clocks.get("article", ("", ""))
        return str(one if hour % NOON == 1 else several)

    # --- reading

    @cached_property
    def _named(self) -> Mapping[str, int]:
        """The hours that have a name, such as noon."""
        return self._clocks.get("named") or {}

    def date_readings(self, text: str) -> Iterator[DateReading]:
        """Yield the dates in folded `text` with months in words or in the page's numbering."""
        if not self._date_pattern or not self._date_hint.search(text):
            return
        for match in self._date_pattern.finditer(text):
            groups = match.groupdict().items()
            date_parts = {name[0]: words for name, words in groups if words is not None}
            read = {part: self._read_part(words, part) for part, words in date_parts.items()}
            year, month, day = map(read.get, "ymd")
            if month is not None and day is not None:
                yield DateReading(*match.span(), year, month, day)

    @cached_property
    def _date_pattern(self) -> re.Pattern[str] | None:
        return self._any_pattern(self._dates.get("read"))

    @cached_property
    def _date_hint(self) -> re.Pattern[str]:
        return re.compile(self._dates.get("hint") or _any_of(self._months))

    def _any_pattern(self, read: Iterable[str] | None) -> re.Pattern[str] | None:
        """Return these patterns filled in and combined into one, or None if there are none."""
        return re.compile("|".join(_numbered(map(self._fill, read)))) if read else None

    def _read_part(self, words: str, part: str) -> int | None:
        """Return the day, month or year that folded words mean, or None."""
        if digits := re.match(r"\d+", words):
            return int(digits.group())
        table = {"m": self._months, "d": self._days}.get(part, {})
        return table.get(_spaced(words), self._read_numeral(words))

    @cached_property
    def _months(self) -> dict[str, int]:
        """The numbers of the months by their full and short names, folded."""
        from babel.dates import get_month_names

        whole = get_month_names("wide", locale=self._locale)
        short = get_month_names("abbreviated", locale=self._locale)
        named = (*whole.items(), *short.items())
        found = {plain(name).rstrip("."): number for number, name in named}
        own = self._dates.get("months", {}).items()
        return found | {str(name): int(number) for name, number in own}

    @cached_property
    def _weekdays(self) -> dict[str, str]:
        """The weekday that each full or short name stands for, folded."""
        from babel.dates import get_day_names

        whole = get_day_names("wide", locale=self._locale)
        short = get_day_names("abbreviated", locale=self._locale)
        named = ((name, whole[number]) for number, name in (*whole.items(), *short.items()))
        return {plain(name).rstrip("."): plain(known) for name, known in named}

    @cached_property
    def _ordinals(self) -> dict[str, int]:
        """Ordinals in words, if the page says that they are not also other words."""
        if not self._numbers.get("ordinals"):
            return {}
        numbers = range(1, _LONGEST_DATE + 1)
        return {_spaced(_in_words(number, self._code, "ORDINAL")): number for number in numbers}

    @cached_property
    def _days(self) -> dict[str, int]:
        is_cardinal = not self._numbers.get("ordinals") and "digits" not in self._numbers
        words = (
            {word: number for word, number in self._small.items() if number <= _LONGEST_DATE}
            if is_cardinal
            else {}
        )
        return {**words, **self._ordinals, **self._dates.get("days", {})}

    @cached_property
    def _small(self) -> dict[str, int]:
        """Numbers below a thousand by folded words; empty for numerals, which are read by sign."""
        if "digits" in self._numbers or not self._numbers:
            return {}
        number_names = {_spaced(_in_words(number, self._code)): number for number in range(_SMALL)}
        joint = self._numbers.get("joint")
        if joint:
            number_names |= {
                words.replace(f" {joint} ", " "): one for words, one in number_names.items()
            }
        for usual, other in (self._numbers.get("same") or {}).items():
            alike = [
                (words, number) for words, number in number_names.items() if words.startswith(usual)
            ]
            number_names |= {words.replace(usual, other): number for words, number in alike}
        return number_names | (self._numbers.get("also") or {})

    @cached_property
    def _scales(self) -> dict[str, tuple[int, bool]]:
        """The words for a thousand and more, and whether each can stand alone for one."""
        if not self._small:
            return {}
        scales: dict[str, tuple[int, bool]] = {}
        for scale in _SCALES:
            for number in (scale, 2 * scale):
                words = _spaced(_in_words(number, self._code)).split()
                scales.setdefault(words[-1], (scale, len(words) == 1))
        return scales

    def _read_numeral(self, words: str) -> int | None:
        """Return a number in a script's numerals, by digits or by tens and hundreds, or None."""
        values: Mapping[str, int] = self._numbers.get("digits") or {}
        if not words or len(words) > MOST_DIGITS or any(sign not in values for sign in words):
            return None
        row = [values[sign] for sign in words]
        if all(value < _DECADE for value in row):
            return int("".join(map(str, row)))
        total = section = digit = unit = 0
        is_open = False  # a digit waits for its unit
        for value in row:
            if value < _DECADE:
                if is_open and digit:
                    return None
                digit, is_open, unit = value, value > 0, unit if value else 0
            elif value < 10 * _SMALL:
                section += (digit if is_open else 1) * value
                digit, is_open, unit = 0, False, value
            else:
                if value == 10 * _SMALL:
                    total = total + (section + digit) * value
                else:
                    total = (total + section + digit) * value
                section, digit, is_open, unit = 0, 0, False, value
        # the last digit may leave its unit out: three thousand five is 3500
        return total + section + (digit * unit // 10 if is_open and unit > _DECADE else digit)

    @cached_property
    def _slots(self) -> dict[str, str]:
        minutes = _any_of(self._minutes)
        return {
            "day": rf"(?P<d>\d{{1,2}}{self._dates.get('ending', '')}|{_any_of(self._days)})",
            "month": f"(?P<m>{_any_of(self._months)})",
            "weekday": f"(?:{_any_of(self._weekdays)})",
            "hour": rf"(?P<hour>\d{{1,2}}|{_any_of(self._hours)})",
            "minute": rf"(?P<minute>[0-5]\d|{minutes})",
            "less": rf"(?P<less>[0-5]\d|{minutes})",
            "part": f"(?P<part>{'|'.join(self._parts)})",
            "named": f"(?P<named>{_any_of(self._named)})",
            **self._own,
        }

    def _fill(self, pattern: str) -> str:
        while (filled := _SLOT.sub(lambda slot: self._slots[slot[1]], pattern)) != pattern:
            pattern = filled
        return pattern

    @cached_property
    def _hours(self) -> dict[str, int]:
        spoken = {word: number for word, number in self._small.items() if 0 < number <= NOON}
        return {**spoken, **self._clocks.get("hour", {})}

    @cached_property
    def _minutes(self) -> dict[str, int]:
        spoken = {word: number for word, number in self._small.items() if 0 < number < HOUR}
        return {**spoken, **self._clocks.get("minutes", {})}

    @cached_property
    def _parts(self) -> Mapping[str, list[int]]:
        """Patterns for the parts of a day, each with its first and last hour; over 24: next day."""
        return self._clocks.get("parts") or {}

    @cached_property
    def _clock_pattern(self) -> re.Pattern[str] | None:
        return self._any_pattern(self._clocks.get("read"))

    def clock_readings(self, text: str) -> Iterator[ClockReading]:
        """Yield the times of day in folded `text`.

        An hour outside the part of the day that goes with it gives no time.
        """
        if self._clock_pattern is None or not re.search(self._clocks.get("hint", ""), text):
            return
        for match in self._clock_pattern.finditer(text):
            groups = match.groupdict().items()
            clock_parts = {name.split("_")[0]: words for name, words in groups if words is not None}
            if "named" in clock_parts:
                yield ClockReading(
                    *match.span(), self._named[clock_parts["named"]], 0, is_open=False
                )
            elif (minutes := self._time(clock_parts)) is not None:
                is_early = 0 < self._number(clock_parts["hour"], self._hours) <= NOON
                is_open = is_early and not {"part", "sure"} & {*clock_parts}
                yield ClockReading(*match.span(), *divmod(minutes, HOUR), is_open)

    def _time(self, stated: Mapping[str, str]) -> int | None:
        """Return the minute of the day, before noon if in doubt, or None if it is no time."""
        hour = self._number(stated["hour"], self._hours)
        past = self._number(stated.get("minute", "0"), self._minutes)
        less = self._number(stated.get("less", "0"), self._minutes)
        if hour > DAY or max(past, less) >= HOUR:
            return None
        at = hour * HOUR + past - less
        if not 0 < hour <= NOON:
            return at % (DAY * HOUR)
        if "part" not in stated:
            return at + NOON * HOUR * (at < HOUR)  # quarter to one
        spans = (span for one, span in self._parts.items() if re.fullmatch(one, stated["part"]))
        first, last = next(spans)
        every = (at % (NOON * HOUR) + half * NOON * HOUR for half in range(3))
        found = (one % (DAY * HOUR) for one in every if first * HOUR <= one < last * HOUR)
        return next(found, None)

    def _number(self, words: str, table: Mapping[str, int]) -> int:
        if words.isdecimal():
            return int(words)
        return table.get(_spaced(words)) or self._read_numeral(words) or 0

    def number_words(self, text: str) -> Iterator[Number]:
        """Yield the numbers that folded `text` has in words, except those the page rules out."""
        numbers = self._numerals(text) if "digits" in self._numbers else self._phrases(text)
        taken = Spans(match.span() for match in self._no_number.finditer(text))
        yield from (one for one in numbers if not taken.overlaps(one.start, one.end))

    @cached_property
    def _no_number(self) -> re.Pattern[str]:
        return re.compile(self._fill("|".join(self._numbers.get("none", ["(?!)"]))))

    @cached_property
    def _numeral_pattern(self) -> re.Pattern[str]:
        return re.compile(self._fill(self._numbers["read"]))

    def _numerals(self, text: str) -> Iterator[Number]:
        """Yield the numbers in a script's numerals.

        The page's pattern has the groups whole, fraction, scale, sign, percent and ordinal.
        """
        values: Mapping[str, int] = self._numbers["digits"]
        for match in self._numeral_pattern.finditer(text):
            whole = match["whole"]
            value: float | None = int(whole) if whole.isdecimal() else self._read_numeral(whole)
            if value is None or len(whole) > MOST_DIGITS:
                continue
            if match["fraction"]:
                fraction = "".join(str(values[sign]) for sign in match["fraction"])
                value = float(f"{value}.{fraction}") * values.get(match["scale"], 1)
            rule = PERCENT if match["percent"] else ORDINAL if match["ordinal"] else WORDS
            yield Number(-value if match["sign"] else value, *match.span(), rule)

    def _phrases(self, text: str) -> Iterator[Number]:
        """Yield the numbers in words, taking the longest phrase from the left."""
        row = [*_WORD.finditer(text)]
        at = 0
        while at < len(row):
            value, end, rule = (
                self._longest(text, row, at)
                if row[at].group() in self._beginnings
                else (0, at, WORDS)
            )
            start, stop = row[at].start(), row[end - 1].end()
            if end > at and not _GLUED.search(text, max(0, start - 1), start):
                around = self._around
                sign = around["minus"].search(text[:start][-_FAR:])
                more = around["half"].match(text, stop)
                value, stop = (value + 0.5, more.end()) if more else (value, stop)
                if share := around["percent"].match(text, stop):
                    rule, stop = PERCENT, share.end()
                start -= len(sign.group()) if sign else 0
                yield Number(-value if sign else value, start, stop, rule)
            at = max(end, at + 1)

    def _longest(self, text: str, row: list[re.Match[str]], at: int) -> tuple[float, int, str]:
        """Return the number at a word, the word after it (`at` if there is none), and its rule."""
        ordinal, last = self._look_up(self._ordinals, text, row, at)
        total, end, room = 0, at, inf
        while True:
            value, stop = self._look_up(self._small, text, row, at)
            scale, is_alone = (
                self._scales.get(row[stop].group(), (0, False)) if stop < len(row) else (0, False)
            )
            if 0 < scale < room and (is_alone if stop == at else _is_joined(text, row, stop)):
                total, at, room = total + (value if stop > at else 1) * scale, stop + 1, scale
                end = at
                at += at < len(row) and row[at].group() == self._numbers.get("joint")
                gap = text[row[at - 1].end() : row[at].start()] if at < len(row) else "."
                if re.fullmatch(r",?[\s-]*", gap):
                    continue
            elif stop > at and value < room:
                total, end = total + value, stop
            times = 1
            if at < end < len(row):
                times = (self._numbers.get("times") or {}).get(row[end].group(), 1)
            total, end = (
                (total * times, end + 1)
                if times > 1 and _is_joined(text, row, end)
                else (total, end)
            )
            return (ordinal, last, ORDINAL) if last > end else (total, end, WORDS)

    def _look_up(
        self, table: Mapping[str, int], text: str, row: list[re.Match[str]], at: int
    ) -> tuple[int, int]:
        """Return the value of the longest phrase that starts at a word, and the index after it."""
        longest, words = (0, at), ""
        for stop in range(at, min(at + _LONGEST_PHRASE, len(row))):
            if stop > at and not _is_joined(text, row, stop):
                break
            words = f"{words} {row[stop].group()}".strip()
            longest = (table[words], stop + 1) if words in table else longest
        return longest

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """The words with which a number begins."""
        alone = (word for word, (_, is_alone) in self._scales.items() if is_alone)
        return frozenset(words.split()[0] for words in (*self._small, *self._ordinals, *alone))

    @cached_property
    def _around(self) -> dict[str, re.Pattern[str]]:
        """Patterns for what may stand before or after a number in words."""
        ends = {"minus": "$", "half": "", "percent": ""}
        return {
            name: re.compile(f"(?:{self._numbers.get(name, '(?!)')}){end}")
            for name, end in ends.items()
        }

    def respellings(self) -> dict[str, str]:
        """Words compared as other words: numbers in words, mapped to digits.

        "First" and "second" are left out because they have other meanings.
        """
        small = {word: str(number) for word, number in self._small.items() if " " not in word}
        ordinals = {word: str(number) for word, number in self._ordinals.items() if number > 2}  # noqa: PLR2004
        return small | ordinals


@cache
def spoken_in(language: Language) -> SpokenForms:
    """Return how a language, or without a folder the fallback, says days, times and numbers."""
    code = language if has_folder(language) else fallback()
    return SpokenForms(code, of(code).data.get("spoken", {}))


def _is_joined(text: str, row: list[re.Match[str]], at: int) -> bool:
    """Whether only spaces or a hyphen separate a word from the one before it."""
    return _GAP.fullmatch(text, row[at - 1].end(), row[at].start()) is not None


def _numbered(patterns: Iterable[str]) -> Iterator[str]:
    """Yield the patterns with groups renamed so that they can be parts of one pattern.

    A group `day` of the pattern at index 2 becomes `day_2`, and `day_2_1` where it repeats.
    """
    for at, pattern in enumerate(patterns):
        seen: Counter[str] = Counter()

        def rename(group: re.Match[str], at: int = at, seen: Counter[str] = seen) -> str:
            sign, name, end = group.groups()
            again = f"_{seen[name]}" if sign == "<" and seen[name] else ""
            seen[name] += sign == "<"
            return f"(?P{sign}{name}_{at}{again}{end}"

        yield _GROUP.sub(rename, pattern)


def plain(name: str) -> str:
    """Return a name as it appears in folded text."""
    return folded(name).text


def _spaced(words: str) -> str:
    return " ".join(re.split(r"[\s-]+", plain(words).replace(",", "")))


def _any_of(words: Iterable[str]) -> str:
    """Return a regular expression that matches any of these words, the longest first."""
    ordered = sorted(words, key=len, reverse=True)
    escaped = (r"[\s-]+".join(map(re.escape, one.split())) for one in ordered)
    return f"(?:{'|'.join(escaped) or '(?!)'})"


@lru_cache(8192)
def _in_words(number: int, language: str, purpose: str = "CARDINAL") -> str:
    from unicode_rbnf import FormatPurpose

    rules = _rules(language)
    # English with "and"; others have one rule
    names = [_VERBOSE] if purpose == "CARDINAL" and _VERBOSE in rules.rulesets else None
    return rules.format_number(number, FormatPurpose[purpose], names).text


@cache
def _rules(language: str) -> "RbnfEngine":
    from unicode_rbnf import RbnfEngine  # not above: only writing and reading ask

    return RbnfEngine.for_language(language)
