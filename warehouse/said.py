"""What a text says in order: its words, numbers, dates and times, and where values stand in it.

Case, markup, doubled letters and a final s make no difference ("cancelled" and "canceled", "tyres"
and "tyre"), and a date or time is the same in any notation.
"""

import re
import unicodedata
from calendar import month_abbr, month_name
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import JsonValue


class DayOfYear(NamedTuple):
    """A date; the year is None where a text leaves it out."""

    month: int
    day: int
    year: int | None = None


class TimeOfDay(NamedTuple):
    """A time of the day."""

    hour: int
    minute: int


Part = str | float | DayOfYear | TimeOfDay
Form = tuple[Part, ...]
Level = Literal["clause", "part", "sentence", "line", "paragraph", "text"]
_COARSE_FIRST: tuple[Level, ...] = ("text", "paragraph", "line", "sentence", "part", "clause")
_BREAKS: tuple[tuple[Level, re.Pattern[str]], ...] = (
    ("paragraph", re.compile(r"\n\s*\n")),
    ("line", re.compile(r"\n")),
    ("sentence", re.compile(r"[.!?][\"”’)*_`]*(?=\s|$)|[。！？]")),
    ("part", re.compile("[;；]")),
    ("clause", re.compile(r"[,:()\[\]→—–，：、]|\s-\s")),
)
_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty"),
)
_MONTHS = {
    name.casefold(): number
    for names in (month_name, month_abbr)
    for number, name in enumerate(names)
    if name
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TH = "(?:st|nd|rd|th)?"
_TOKENS = re.compile(
    rf"""
      (?<![\w-]) (?P<iso_year>\d{{4}}) - (?P<iso_month>\d\d) - (?P<iso_day>\d\d) (?![\w-])
    | (?<![\w.]) (?P<dot_day>\d\d?) \. (?P<dot_month>\d\d?) \. (?P<dot_year>\d{{4}}) (?!\w)
    | (?<![\w/]) (?P<slash_month>\d\d?) / (?P<slash_day>\d\d?) / (?P<slash_year>\d{{4}}) (?![\w/])
    | (?<!\w) (?P<first_month>{_MONTH}) \.? \s+ (?P<first_day>\d\d?) {_TH} (?![\w:])
        (?: ,? \s+ (?P<first_year>\d{{4}}) (?!\w) )?
    | (?<!\w) (?P<last_day>\d\d?) {_TH} \s+ (?: of \s+ )? (?P<last_month>{_MONTH}) (?!\w) \.?
        (?: ,? \s+ (?P<last_year>\d{{4}}) (?!\w) )?
    | (?<!\w) (?P<hour>\d\d?) : (?P<minute>\d\d) (?: :\d\d (?:\.\d+)? )?
        (?: z(?!\w) | \s* (?P<half>[ap]) \.? m \b \.? )?
    | (?<!\w) (?P<bare_hour>\d\d?) \s* (?P<bare_half>[ap]) \.? m \b \.?
    | (?<![\w.,]) (?P<number>\d{{1,3}} (?: ,\d{{3}} )+ (?:\.\d+)? | \d+ (?:\.\d+)?) {_TH}
        (?! [^\W_{_CJK}] )
    | (?P<word>[{_CJK}] | [^\W_{_CJK}]+)
    """,
    re.VERBOSE,
)
_ITEM = re.compile(  # of a list: "2.", "(2)", "Repair 2:", "#2"
    r"^[^\S\n]*(?:[-*•#>|]+[^\S\n]*)*\(?(?P<words>(?:[^\W\d_]+[^\S\n]+){0,2})#?(?P<number>\d{1,3})"
    r"(?=[*_]*[^\S\n]*(?:[:.)–—-]+(?:\s|$)|$))",
    re.MULTILINE,
)
_ROW = re.compile(r"\s*\|(.+)\|\s*")
_RULE = re.compile(r"\s*\|?[\s:-]*-[\s|:-]*")
_MOMENT = re.compile(r"(?<=\d\d-\d\d)t(?=\d\d:\d\d)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NOON, _LAST_MONTH, _SHORT, _LONGEST_NUMBER = 12, 12, 3, 30


class Token(NamedTuple):
    """A word, number, date or time; a weak one is a number in words, or none ("one of them")."""

    part: Part
    is_weak: bool = False


class SaidForm(NamedTuple):
    """Where a form stands: its first token, and the one after its last."""

    form: Form
    begin: int
    end: int


class ReadText:
    """A text as tokens; `places` say in which clause, sentence, line and so on each stands."""

    def __init__(self, text: str) -> None:
        plain = _folded(_without_tables(text))
        markers = _markers(plain)
        self.tokens: list[Token] = []
        self.places: list[dict[Level, int]] = []
        at, place = 0, dict.fromkeys(_COARSE_FIRST, 0)
        for match in _TOKENS.finditer(plain):
            place, at = _moved(place, plain[at : match.start()]), match.end()
            if match.start() not in markers:
                self.tokens.append(_token(match))
                self.places.append(place)
        self._begins: dict[Part, list[int]] = {}
        for number, token in enumerate(self.tokens):
            self._begins.setdefault(_yearless(token.part), []).append(number)

    def has(self, value: JsonValue) -> bool:
        """Whether the text says a value; booleans, objects and lists always count as said."""
        return all(map(self.says, forms_of(value)))

    def says(self, form: Form) -> bool:
        """Whether a form stands in the text."""
        return any(self._is_at(form, at) for at in self._begins.get(_yearless(form[0]), ()))

    def find(self, forms: Iterable[Form]) -> Iterator[SaidForm]:
        """Yield in order where forms stand, where several begin the longest."""
        by_place: dict[int, list[Form]] = {}
        for form in forms:
            for at in self._begins.get(_yearless(form[0]), ()):
                by_place.setdefault(at, []).append(form)
        last = 0
        for at in sorted(by_place):
            fitting = [form for form in by_place[at] if at >= last and self._is_at(form, at)]
            if fitting:
                form = max(fitting, key=len)
                last = at + len(form)
                yield SaidForm(form, at, last)

    def stretch(self, at: int, level: Level) -> range:
        """Return the tokens in the same clause, sentence or the like as one of them."""
        wanted, first, last = self.places[at][level], at, at + 1
        while first and self.places[first - 1][level] == wanted:
            first -= 1
        while last < len(self.places) and self.places[last][level] == wanted:
            last += 1
        return range(first, last)

    def _is_at(self, form: Form, at: int) -> bool:
        there = self.tokens[at : at + len(form)]
        return len(there) == len(form) and all(
            fits(token.part, part) for token, part in zip(there, form, strict=True)
        )


def forms_of(value: JsonValue) -> tuple[Form, ...]:
    """Return the forms that say a value together: of a moment its day and its time.

    There are none for booleans, objects, lists and what has no words.
    """
    match value:
        case bool() | dict() | list() | None:
            return ()
        case int() | float():
            return ((_number(value),),)
    return _forms_of_text(value)


@lru_cache(8192)
def _forms_of_text(text: str) -> tuple[Form, ...]:
    parts = tuple(_token(match).part for match in _TOKENS.finditer(_folded(text)))
    if parts and all(isinstance(part, DayOfYear | TimeOfDay) for part in parts):
        return tuple((part,) for part in parts)
    return (parts,) if parts else ()


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _CAMEL.sub(" ", text)).casefold()
    return _MOMENT.sub(" ", plain)


def _without_tables(text: str) -> str:
    """Return a text with each row of its tables as a line that names its columns."""
    if "|" not in text:
        return text
    lines, header = list[str](), list[str]()
    written = text.split("\n")
    for line, following in zip(written, [*written[1:], ""], strict=True):
        row = None if _RULE.fullmatch(line) else _ROW.fullmatch(line)
        cells = row[1].split("|") if row else []
        if row and _RULE.fullmatch(following):
            header = cells
        elif row and len(header) == len(cells):
            pairs = zip(header, cells, strict=True)
            lines.append(", ".join(f"{name}: {cell}" for name, cell in pairs))
        elif row or not header or not _RULE.fullmatch(line):
            header = header if row else []
            lines.append(line)
    return "\n".join(lines)


def _markers(plain: str) -> set[int]:
    """Return where the numbers of items stand: "2.", and "Repair 2" if it follows "Repair 1"."""
    items = [*_ITEM.finditer(plain)]
    numbers = [0, *(int(one["number"]) for one in items)]
    is_row = len(items) > 1 and all(
        number in (1, before + 1) for before, number in pairwise(numbers)
    )
    return {
        one.start("number")
        for one in items
        if is_row or (not one["words"] and plain[one.end() :][:1] in (".", ")"))
    }


def _moved(place: dict[Level, int], gap: str) -> dict[Level, int]:
    """Return the place after a gap between two tokens: the coarsest break begins all finer ones."""
    if gap in ("", " "):
        return place
    broken = next((level for level, mark in _BREAKS if mark.search(gap)), None)
    if broken is None:
        return place
    finer = _COARSE_FIRST[_COARSE_FIRST.index(broken) :]
    return {level: at + (level in finer) for level, at in place.items()}


def _token(match: re.Match[str]) -> Token:
    group = match.groupdict()
    if (word := group["word"]) is not None:
        if word in _NUMBER_WORDS:
            return Token(float(_NUMBER_WORDS.index(word)), is_weak=True)
        return Token(_stem(word))
    if (number := group["number"]) is not None:
        return Token(_number(number))
    if (hour := group["hour"] or group["bare_hour"]) is not None:
        half = group["half"] or group["bare_half"]
        on_dial = int(hour) % _NOON + _NOON * (half == "p") if half else int(hour)
        return Token(TimeOfDay(on_dial, int(group["minute"] or 0)))
    sort = (match.lastgroup or "").partition("_")[0]
    month, day, year = (group[f"{sort}_{name}"] for name in ("month", "day", "year"))
    months = _MONTHS[month] if month in _MONTHS else int(month)
    if months > _LAST_MONTH:  # 24/12/2026
        months, day = int(day), str(months)
    return Token(DayOfYear(months, int(day), int(year) if year else None))


def _stem(word: str) -> str:
    stem = re.sub(r"(.)\1", r"\1", word)
    return stem[:-1] if len(word) > _SHORT and stem.endswith("s") and stem.isalpha() else stem


def _number(value: str | float) -> float:
    """Return a number to two places, as amounts are said, or a small one to some digits."""
    try:
        number = float(
            value.replace(",", "")[:_LONGEST_NUMBER] if isinstance(value, str) else value
        )
    except OverflowError:
        return float("inf")
    return round(number, 2) if abs(number) >= 1 else float(f"{number:.3g}")


def _yearless(part: Part) -> Part:
    return part._replace(year=None) if isinstance(part, DayOfYear) else part


def fits(said: Part, due: Part) -> bool:
    """Whether a part of a text is one of a value; a date without a year fits any."""
    if isinstance(said, DayOfYear) and isinstance(due, DayOfYear):
        return said[:2] == due[:2] and (None in (said.year, due.year) or said.year == due.year)
    return said == due
