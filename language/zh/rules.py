"""The rules of Chinese: dates, times of day and numbers."""

import re
from collections.abc import Mapping
from random import Random

from callwright.language.zh import actions, clock, numerals
from callwright.language.zh.numerals import SMALL_NUMERAL, write_chinese

# ruff: noqa: PLR2004 - hours and minutes are what this file is about

_COUNTED = {  # the end of a description: how it is asked for, and what stands behind the number
    "人数": ("几个人", "个人"), "晚数": ("住几晚", "晚"), "天数": ("几天", "天"), "小时数": ("几个小时", "个小时"),
    "分钟数": ("几分钟", "分钟"), "张数": ("几张", "张"), "间数": ("几间", "间"), "公斤数": ("多少公斤", "公斤"),
}  # fmt: skip
_NOON = 12
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_SHOP_NOT_CITY = frozenset("超城门夜股菜上楼都集")
_TEN_THOUSAND = 10_000
_LONGEST_IN_WORDS = 100
DATE_PATTERNS = (
    rf"(?:(?P<y>(?<!\d)\d{{4}}|[〇零一二三四五六七八九]{{4}})年|(?:今年|明年|去年))?的?(?P<m>(?<![\d.])\d{{1,2}}|{SMALL_NUMERAL})月份?的?"
    rf"(?P<d>\d{{1,2}}|{SMALL_NUMERAL})(?:日|号|(?![\d个月天年零〇一二三四五六七八九十百千]))",
)
JOINS_NUMBERS = False


def date_forms(year: int, month: int, day: int) -> tuple[str, ...]:
    """The ways in which a person states this date, each with its year."""
    return (f"{year}年{month}月{day}日", f"{year}年{month}月{day}号")


def write_clock(hour: int, minute: int, rng: Random) -> str:
    """One way in which a person states this time, in words that can mean no other."""
    on_clock = hour % _NOON or _NOON
    digits = f"{on_clock}点" + (f"{minute}分" if minute else "")
    spoken = "两" if on_clock == 2 else write_chinese(on_clock)
    if minute == 0:
        words = f"{spoken}点"
    elif minute == 30:
        words = f"{spoken}点半"
    else:
        words = f"{spoken}点{'零' if minute < 10 else ''}{write_chinese(minute)}分"
    return _part_of_day(hour) + rng.choice((digits, words, f"{on_clock}:{minute:02}"))


def _part_of_day(hour: int) -> str:
    for limit, part in ((6, "凌晨"), (9, "早上"), (12, "上午"), (13, "中午"), (18, "下午")):
        if hour < limit:
            return part
    return "晚上"


def moment_forms(day: str, clock: str) -> tuple[str, ...]:
    """The one way to state a day and a time together."""
    return (day + clock,)


def number_forms(number: int) -> tuple[str, ...]:
    """The ways besides digits to state a whole number that is not negative."""
    if number >= _TEN_THOUSAND and number % 1000 == 0:
        tens = number / _TEN_THOUSAND
        digits = f"{tens:f}".rstrip("0").rstrip(".")
        return (f"{digits}万", write_chinese(number))
    if 1 < number <= _LONGEST_IN_WORDS - 1 or (number and number % _LONGEST_IN_WORDS == 0):
        return (write_chinese(number),)
    return ()


def find_month(phrase: str, text: str) -> tuple[int, int] | None:
    """Nowhere: a month of a relative year is compared character by character."""
    return None


def is_place_ending(character: str, before: str) -> bool:
    """Whether 市 or 省 ends the name of a place; 超市 is a shop."""
    return character in ("市", "省") and bool(_HAN.match(before)) and before not in _SHOP_NOT_CITY


def counted(called: str, name: str) -> tuple[str, str] | None:
    """What a number counts, as it is asked for and as it stands behind the number, by what its parameter is called."""
    return next((_COUNTED[ending] for ending in _COUNTED if called.endswith(ending)), None)


def counted_argument(called: str) -> str:
    """The unit in which a request may state a number without more words, "for 3 guests"; "" where it needs them."""
    return ""


def in_number(shape: str, called: str) -> str:
    """The shape as it is: Chinese nouns have no number."""
    return shape


def point(before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
    """The phrase is joined to a name right before it, or to a clause that a bare date or time would end."""
    if before.rstrip().endswith(cue):
        return f"{before.rstrip()}是{phrase}{after}"
    is_bare = is_typed and before.endswith("，") and not after.startswith("吧")
    return f"{before}{'就按' if is_bare else ''}{phrase}{after}"


def action_of_name(name: str) -> str:
    """Nothing: names in code are in English."""
    return ""


def smooth(request: str) -> str:
    """The request as it is."""
    return request


def is_for_speaker(action: str) -> bool:
    """No: Chinese shapes fit all actions."""
    return False


def is_plural(called: str) -> bool:
    """No: Chinese nouns have no number."""
    return False


def agreed(shape: str, called: str) -> str:
    """The shape as it is: Chinese nouns have no number."""
    return shape


def respellings() -> Mapping[str, str]:
    """No words: Chinese is compared character by character."""
    return {}


clock_readings, number_words = clock.chinese_readings, numerals.chinese_numbers
day_of_month = month_number = year_number = numerals.parse_chinese
action_of, other_actions, cue_of = actions.action_of, actions.other_actions, actions.cue_of
