"""Dates in text: absolute ones read as ISO, dates without a year, and relative days as they are stated."""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from random import Random

from language.en.numerals import ordinal_words
from language.text import VERBATIM, Found, folded
from language.zh.numerals import SMALL_NUMERAL, parse_chinese
from warehouse.records import Language

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NUMBERS = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name.lower()[:3]: number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
MONTH_PATTERN = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
WEEKDAY_PATTERN = "|".join(f"{name.lower()}|{name.lower()[:3]}" for name in WEEKDAYS)
WEEKDAY_SHORT = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday",
}  # fmt: skip
ENGLISH_RELATIVE = (
    r"(?:the\s+)?day\s+(?:after\s+tomorrow|before\s+yesterday)|today|tonight|tomorrow|yesterday"
    r"|this\s+(?:morning|afternoon|evening)"
    r"|(?:(?:next|this|last|coming)\s+)?(?:"
    + "|".join(name.lower() for name in WEEKDAYS)
    + r"|mon|tues?|wed|thu(?:rs?)?|fri)"
    r"|(?:next|this|last)\s+(?:week(?:end)?|month|year)"
)
CHINESE_RELATIVE = (
    "大后天|大前天|后天|前天|明天|明日|昨天|昨日|今天|今日|今晚|明晚|昨晚|今早|明早"
    "|(?:上上|下下|上|下|这|本)?个?(?:周|星期|礼拜)[一二三四五六日天末]|(?:上|下|这|本)个?(?:周|星期|月)|今年|明年|去年"
)

DATE = "date"
YEARLESS = "date without a year"
RELATIVE = "relative day"
AMBIGUOUS = "day and month in either order"

_LEAP_YEAR = 2024  # judges 29 February where no year is said
_HIGHEST_MONTH = 12
_DAY_ENGLISH = (
    r"(?P<{0}>\d{{1,2}}(?:\s?(?:st|nd|rd|th))?|"
    + "|".join(word.replace(" ", r"\s") for word in sorted(ordinal_words(), key=len, reverse=True))
    + r")(?![\w:])"
)
_YEAR_ENGLISH = r"(?:\s*,?\s*(?:of\s+|in\s+)?(?P<{0}>(?:19|20)\d\d)(?![\w:]))?"
_MONTH_ENGLISH = rf"(?P<{{0}}>{MONTH_PATTERN})(?![a-z])\.?"
_BEFORE = r"(?<![\w.:/\-])"
_ENGLISH = (
    rf"{_BEFORE}(?:(?:{WEEKDAY_PATTERN})\b\.?,?\s+)?(?:(?:the\s+)?{_DAY_ENGLISH.format('d1')}[\s\-/]*(?:of\s+)?"
    rf"{_MONTH_ENGLISH.format('m1')}[\-,/]?{_YEAR_ENGLISH.format('y1')}"
    rf"|{_MONTH_ENGLISH.format('m2')}\s*(?:the\s+)?{_DAY_ENGLISH.format('d2')}{_YEAR_ENGLISH.format('y2')})"
)
_NUMERIC = (
    r"(?<![\w.:/\-])(?P<y3>\d{4})(?P<s3>[-/.])(?P<m3>\d{1,2})(?P=s3)(?P<d3>\d{1,2})(?![\w/\-]|\.\d)"
    r"|(?<![\w.:/\-])(?P<a4>\d{1,2})(?P<s4>[-/.])(?P<b4>\d{1,2})(?P=s4)(?P<y4>\d{4})(?![\w/\-]|\.\d)"
)
_CHINESE = (
    rf"(?:(?P<y5>(?<!\d)\d{{4}}|[〇零一二三四五六七八九]{{4}})年|(?:今年|明年|去年))?的?(?P<m5>(?<![\d.])\d{{1,2}}|{SMALL_NUMERAL})月份?的?"
    rf"(?P<d5>\d{{1,2}}|{SMALL_NUMERAL})(?:日|号|(?![\d个月天年零〇一二三四五六七八九十百千]))"
)
_ABSOLUTE = re.compile(f"{_ENGLISH}|{_NUMERIC}|{_CHINESE}")
_SAID = re.compile(rf"(?<![a-z])(?:{ENGLISH_RELATIVE})(?![a-z])|{CHINESE_RELATIVE}")
_HINT = re.compile(r"\d|月|" + "|".join(month[:3] for month in MONTH_NUMBERS))


def find_dates(text: str) -> list[Found]:
    """The dates in `text`: ISO `YYYY-MM-DD`, `--MM-DD` where no year is said, relative days in the words used.

    3/5/2026 may be March or May: it is left out here, and `date_spans` still says where it stands.
    """
    return [found for found in _dates(text) if found.rule != AMBIGUOUS]


def date_spans(text: str) -> list[tuple[int, int]]:
    """Where dates stand that contain digits or numerals, whether they can be read or not."""
    return [(found.start, found.end) for found in _dates(text) if found.rule != RELATIVE]


def write_date(value: str, language: Language, rng: Random) -> str:
    """The ISO date `value` as a person may say it, always with its year and never ambiguous."""
    day = date.fromisoformat(value)
    if language == "zh":
        return rng.choice((f"{day.year}年{day.month}月{day.day}日", f"{day.year}年{day.month}月{day.day}号"))
    month = MONTHS[day.month - 1]
    return rng.choice(
        (
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month} {day.year}",
            f"{month} {_ordinal(day.day)}, {day.year}",
            f"the {_ordinal(day.day)} of {month} {day.year}",
            f"{WEEKDAYS[day.weekday()]}, {month} {day.day}, {day.year}",
        )
    )


def _ordinal(day: int) -> str:
    suffix = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"


@lru_cache(4096)
def _dates(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    found: list[Found] = []
    if _HINT.search(plain.text):
        for match in _ABSOLUTE.finditer(plain.text):
            start, end = plain.span(*match.span())
            found.extend(Found(value, start, end, rule) for value, rule in _readings(match, text[start:end]))
    for match in _SAID.finditer(plain.text):
        start, end = plain.span(*match.span())
        if not any(other.start < end and start < other.end for other in found):
            found.append(Found(text[start:end], start, end, RELATIVE))
    return tuple(sorted(found, key=lambda one: one.start))


def _readings(match: re.Match[str], quote: str) -> Iterator[tuple[str, str]]:
    parts = match.groupdict()
    if parts["a4"]:
        yield from _either_order(int(parts["a4"]), int(parts["b4"]), int(parts["y4"]))
        return
    month = _month(parts["m1"] or parts["m2"] or parts["m3"] or parts["m5"])
    day = _day(parts["d1"] or parts["d2"] or parts["d3"] or parts["d5"])
    year = _number(parts["y1"] or parts["y2"] or parts["y3"] or parts["y5"])
    value = _iso(year, month, day)
    if value:
        rule = YEARLESS if year is None else DATE
        yield value, VERBATIM if value == quote else rule


def _either_order(first: int, second: int, year: int) -> Iterator[tuple[str, str]]:
    as_month_day, as_day_month = _iso(year, first, second), _iso(year, second, first)
    if as_month_day and as_day_month and as_month_day != as_day_month:
        yield f"{year}", AMBIGUOUS
    elif as_month_day or as_day_month:
        yield as_month_day or as_day_month, DATE


def _iso(year: int | None, month: int | None, day: int | None) -> str:
    if month is None or day is None:
        return ""
    try:
        valid = date(year or _LEAP_YEAR, month, day)
    except ValueError:
        return ""
    return valid.isoformat() if year else f"--{month:02}-{day:02}"


def _month(said: str) -> int | None:
    return MONTH_NUMBERS.get(said) or _number(said)


def _day(said: str) -> int | None:
    if said[0].isdecimal():
        return int(re.sub(r"\D", "", said))
    return ordinal_words().get(re.sub(r"\s+", " ", said)) or _number(said)


def _number(said: str | None) -> int | None:
    if said is None:
        return None
    return int(said) if said.isdecimal() else parse_chinese(said)
