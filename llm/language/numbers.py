"""Numbers in both languages: digits, words, Chinese numerals, percent, magnitudes; never part of a date or a time."""

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from math import isclose
from random import Random

from llm.language.chinese_numerals import write_chinese
from llm.language.dates import date_spans
from llm.language.digits import NUMBER, ORDINAL, PERCENT, WORDS, Number, digit_numbers
from llm.language.folding import folded
from llm.language.found import VERBATIM, Found
from llm.language.spoken_chinese import chinese_numbers
from llm.language.spoken_english import english_numbers
from llm.language.times import find_times
from warehouse.records import Language

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
