"""Clock readings in Chinese: 晚上七点半, 下午3点15分, 差一刻七点, 早上8:30; 三点五 is a decimal, not five past three."""

import re
from collections.abc import Iterator

from callwright.language.protocol import ClockReading
from callwright.language.zh.numerals import DECIMAL_UNIT, SMALL_NUMERAL, parse_chinese

_PARTS = {
    "morning": ("清晨", "早晨", "早上", "上午", "今早", "明早", "早"),
    "noon": ("中午", "正午"),
    "afternoon": ("下午", "午后"),
    "evening": ("傍晚",),
    "night": ("晚上", "夜里", "夜晚", "深夜", "今晚", "明晚", "昨晚", "当晚", "晚间", "晚"),
    "small hours": ("凌晨", "半夜", "午夜"),
}
_PART_OF = {word: part for part, words in _PARTS.items() for word in words}
_DAY_PART = "|".join(sorted(_PART_OF, key=len, reverse=True))
_MINUTES = "(?:[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])"
_BEFORE = rf"差(?:(?P<to_quarter>[一三])刻|(?P<to>[0-5]?\d|{SMALL_NUMERAL})分?)(?:钟)?(?:就|到)?"
_CLOCK = re.compile(
    rf"(?:(?P<part>{_DAY_PART})的?\s?)?(?:{_BEFORE})?(?:"
    rf"(?P<hour>(?<![\d.:])\d{{1,2}}|(?<![零〇一二两三四五六七八九十百千第有]){SMALL_NUMERAL})\s?(?:点钟?|时(?![间候代常而不段刻期差]))"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>[0-5]?\d(?=分)|[0-5]\d(?!\d)|{_MINUTES}|{SMALL_NUMERAL}(?=分))分?|整|钟"
    rf"|差(?:(?P<less_quarter>[一三])刻|(?P<less>[0-5]?\d|{SMALL_NUMERAL})分钟?))?"
    rf"(?!{DECIMAL_UNIT})"
    r"|(?P<h>(?<![\d.:])\d{1,2}):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:]))"
)
_DECIMAL = re.compile(rf"[零〇一二三四五六七八九]+(?:{DECIMAL_UNIT}|[,.;!?]|$)")
_HINT = re.compile("[点时:]")
_NOT_A_TIME = re.compile("[儿心多]|左右的|一[下些]|[个次种]")


def chinese_readings(text: str) -> Iterator[ClockReading]:
    """The clock readings in folded `text`; 一点 alone ("a bit") is none."""
    if not _HINT.search(text):
        return
    for match in _CLOCK.finditer(text):
        part = _PART_OF[match["part"]] if match["part"] else ""
        if match["h"]:
            if part:
                yield ClockReading(*match.span(), int(match["h"]), int(match["m"]), part)
            continue
        hour = _number(match["hour"])
        bare = match.end() == match.end("hour") + 1
        is_decimal = bare and _DECIMAL.match(text, match.end())
        if is_decimal or (bare and not part and (match["hour"] == "一" or _NOT_A_TIME.match(text, match.end()))):
            continue
        yield _reading(match, hour, part)


def _reading(match: re.Match[str], hour: int, part: str) -> ClockReading:
    minute = _minute(match) - _minutes_short(match)
    if minute < 0:
        hour, minute = hour - 1, minute + 60
    return ClockReading(*match.span(), hour, minute, part)


def _minutes_short(match: re.Match[str]) -> int:
    """How many minutes before the hour is meant: 差五分七点, 七点差五分."""
    quarter, minutes = match["to_quarter"] or match["less_quarter"], match["to"] or match["less"]
    return 15 * _number(quarter) if quarter else _number(minutes) if minutes else 0


def _minute(match: re.Match[str]) -> int:
    if match["half"]:
        return 30
    if match["quarter"]:
        return 15 * _number(match["quarter"])
    return _number(match["minute"]) if match["minute"] else 0


def _number(words: str) -> int:
    return int(words) if words.isdecimal() else parse_chinese(words) or 0
