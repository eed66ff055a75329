"""Numbers in text: digits, words, percent, magnitudes and units; never part of a date or a time."""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from math import isclose
from random import Random

from language.dates import date_spans
from language.digits import NUMBER, ORDINAL, PERCENT, WORDS, Number, digit_numbers
from language.en.numerals import english_numbers
from language.text import VERBATIM, Found, folded
from language.times import find_times
from language.zh.numerals import chinese_numbers, write_chinese
from warehouse.records import JsonSchema, Language

__all__ = ["NUMBER", "ORDINAL", "PERCENT", "WORDS", "find_numbers", "in_digits", "same_number", "write_number"]

_LONGEST_IN_WORDS = 100
_TOO_LONG = 10**12
_TEN_THOUSAND = 10_000
_THOUSAND = 1000


def find_numbers(text: str) -> list[Found]:
    """The numbers in `text`; 15 % is found as 15 under the rule PERCENT."""
    return list(_numbers(text))


def same_number(one: float, other: float) -> bool:
    """Whether two numbers are the same but for floating-point dust."""
    return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def in_digits(value: float) -> str:
    """Write `value` in digits, never in scientific notation."""
    return str(value) if isinstance(value, int) else format(Decimal(repr(value)), "f").removesuffix(".0")


def write_number(value: float, language: Language, rng: Random) -> str:
    """`value` as a person may say it: digits, or words where they are short."""
    digits = in_digits(value)
    if not float(value).is_integer() or abs(value) >= _TOO_LONG:
        return digits
    number = abs(int(value))
    sign = "" if value >= 0 else "负" if language == "zh" else "minus "
    forms = _chinese_forms(number) if language == "zh" else _english_forms(number)
    return rng.choice((digits, *(sign + form for form in forms)))


def _english_forms(number: int) -> tuple[str, ...]:
    if number >= _THOUSAND:
        return (f"{number:,}",)
    if 1 < number <= _LONGEST_IN_WORDS or (number and number % _LONGEST_IN_WORDS == 0):
        return (_english_words(number),)
    return ()


@lru_cache(1024)
def _english_words(number: int) -> str:
    from num2words import num2words

    return str(num2words(number))


def _chinese_forms(number: int) -> tuple[str, ...]:
    if number >= _TEN_THOUSAND and number % _THOUSAND == 0:
        return (f"{in_digits(number / _TEN_THOUSAND)}万", write_chinese(number))
    if 1 < number <= _LONGEST_IN_WORDS - 1 or (number and number % _LONGEST_IN_WORDS == 0):
        return (write_chinese(number),)
    return ()


@lru_cache(4096)
def _numbers(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    raw = sorted(_candidates(plain.text), key=lambda one: (one.start, -one.end))
    if not raw:
        return ()
    taken = [*date_spans(text), *((time.start, time.end) for time in find_times(text))]
    found: list[Found] = []
    for number in raw:
        start, end = plain.span(number.start, number.end)
        if any(start < last and first < end for first, last in taken):
            continue
        taken.append((start, end))
        value = int(number.value) if float(number.value).is_integer() else number.value
        found.append(Found(value, start, end, VERBATIM if text[start:end] == str(value) else number.rule))
    return tuple(found)


def _candidates(text: str) -> Iterator[Number]:
    yield from digit_numbers(text)
    yield from english_numbers(text)
    yield from chinese_numbers(text)


CONVERTED = "unit conversion"

# the unit said, what the schema must speak of, and how many of the schema's unit one of the said unit is
_CONVERSIONS = (
    (
        r"km\b|kilomet(?:er|re)s?\b|公里|千米",
        r"\bmet(?:er|re)s?\b|\(m\)|\bradius\b|\bdistance\b|\brange\b|米|半径|距离|范围",
        1000,
    ),
    (r"kg\b|kilo(?:gram)?s?\b|公斤|千克", r"\bgrams?\b|\(g\)|[^千]克", 1000),
    (r"hours?\b|hrs?\b|h\b|个?小时|个?钟头", r"\bminutes?\b|\bmins?\b|分钟", 60),
    (r"min(?:ute)?s?\b|分钟", r"\bseconds?\b|\bsecs?\b|秒", 60),
    (r"days?\b|天", r"\bhours?\b|小时", 24),
    (r"weeks?\b|个?周|个?星期", r"\bdays?\b|天数|天", 7),
    (r"years?\b|年", r"\bmonths?\b|月", 12),
)  # fmt: skip
_HALF_HOUR = re.compile(r"half\s+an?\s+hour|半个?小时")


def find_converted(value: float, schema: JsonSchema, text: str) -> Found | None:
    """Where `text` says `value` in a larger unit than the schema's description names."""
    factors = _factors(f"{schema.get('title', '')} {schema.get('description', '')}".lower())
    if not factors:
        return None
    plain = folded(text)
    for number in find_numbers(text):
        for unit, factor in factors:
            if not same_number(float(str(number.value)) * factor, value):
                continue
            match = unit.search(plain.text, number.end) if plain.text is text else unit.search(text.lower(), number.end)
            if match and not text[number.end : match.start()].strip(" -"):
                return Found(value, number.start, match.end(), CONVERTED)
    return None


@lru_cache(4096)
def _factors(topic: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(unit), factor) for unit, meant, factor in _CONVERSIONS if re.search(meant, topic))
