"""Numbers in text: digits, words, percent, magnitudes and units; never part of a date or a time."""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from math import isclose
from random import Random

from callwright.language.dates import date_spans, find_times
from callwright.language.packs import LanguagePattern, of, packs_of
from callwright.language.protocol import (
    MOST_DIGITS,
    NUMBER,
    ORDINAL,
    PERCENT,
    WORDS,
    LanguagePack,
    Number,
)
from callwright.language.spoken import spoken_in
from callwright.language.text import VERBATIM, Found, Spans, folded
from callwright.warehouse.records import JsonSchema, Language

__all__ = [
    "NUMBER",
    "ORDINAL",
    "PERCENT",
    "WORDS",
    "find_numbers",
    "in_digits",
    "same_number",
    "write_number",
]

_TOO_LONG = 10**12
BEYOND = 10**30  # no number that people say is larger
_THOUSAND = 1000


def find_numbers(text: str) -> list[Found]:
    """Return the numbers in `text`; 15 % is found as 15 under the rule PERCENT."""
    return list(_numbers(text))


def same_number(one: float, other: float) -> bool:
    """Whether two numbers are equal within floating-point error."""
    return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def in_digits(value: float) -> str:
    """Write `value` in digits, never in scientific notation."""
    if isinstance(value, int):
        return str(value)
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def write_number(value: float, language: Language, rng: Random) -> str:
    """Return `value` as a person would say it: in digits, or in words if they are short."""
    digits = in_digits(value)
    if not float(value).is_integer() or abs(value) >= _TOO_LONG:
        return digits
    pack = of(language)
    sign = "" if value >= 0 else pack.minus
    forms = spoken_in(language).number_forms(abs(int(value)))
    return rng.choice((digits, *(sign + form for form in forms)))


@lru_cache(4096)
def _numbers(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    packs = packs_of(text)
    words = (one for pack in packs for one in spoken_in(pack.code).number_words(plain.text))
    raw = [*_digit_numbers(plain.text, packs), *words]
    if not raw:
        return ()
    taken = Spans([*date_spans(text), *((time.start, time.end) for time in find_times(text))])
    numbers: list[Found] = []
    for number in sorted(raw, key=lambda one: (one.start, -one.end)):
        start, end = plain.span(number.start, number.end)
        is_free = not taken.overlaps(start, end) and (not numbers or start >= numbers[-1].end)
        if is_free and abs(number.value) <= BEYOND:
            value = int(number.value) if float(number.value).is_integer() else number.value
            rule = VERBATIM if text[start:end] == str(value) else number.rule
            numbers.append(Found(value, start, end, rule))
    return tuple(numbers)


# letters that may touch a number; any others make it part of a name, such as B6789X or A4
_UNITS = (
    "kg|km|kmh|mph|kw|kwh|kb|m|cm|mm|mg|ml|mb|g|gb|l|lb|lbs|oz|ft|in|tb|w|s|h|d|hz|ghz|mhz|hr|hrs|min|mins|sec|secs"
    "|day|days|hour|hours|minutes|usd|rmb|eur|gbp|cny|yuan|sqm|sq|px|c|f"
)
_DIGITS = LanguagePattern(
    r"(?P<hundredths>@{hundredths})?(?P<sign>(?<![\w)\]])-(?=\d)|@{minus})?(?<![a-z\d./_#@])(?<![a-z\d]:)(?<!\d[,-])"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s*(?P<magnitude>@{magnitude}|k(?![a-z\d])))?"
    r"(?:(?P<percent>\s*%|\s*(?:@{percent}))|(?P<ordinal>@{ordinal_ending}))?"
    rf"(?![\d/:]|\.\d|,\d{{3}})(?=(?:{_UNITS})?(?![a-z\d_@]))",
    re.RegexFlag(0),
)


def _digit_numbers(text: str, packs: tuple[LanguagePack, ...]) -> Iterator[Number]:
    """Yield the numbers that folded `text` writes in digits: 1,200  3.5  -4  80k  15%  $20  5kg."""
    for match in _DIGITS.among(packs).finditer(text):
        digits = match["digits"].replace(",", "")
        if len(digits) > MOST_DIGITS:
            continue
        value = float(digits) if "." in digits else int(digits)
        if word := match["magnitude"]:
            tables = (pack.data["numerals"]["magnitudes"] for pack in packs)
            if word == "k":
                magnitude = _THOUSAND
            else:
                magnitude = next(int(table[word]) for table in tables if word in table)
            # 1.1 million is 1,100,000 and not 1,100,000.0000000001
            value = (
                value * magnitude if isinstance(value, int) else float(f"{value * magnitude:.12g}")
            )
        if match["percent"] or match["hundredths"]:
            rule = PERCENT
        else:
            rule = ORDINAL if match["ordinal"] else NUMBER
        start = match.start("digits") if rule == NUMBER and not match["sign"] else match.start()
        yield Number(-value if match["sign"] else value, start, match.end(), rule)


CONVERTED = "unit conversion"

# the unit said, what the schema must speak of, and how many of the schema's unit one of the said
# unit is
_CONVERSIONS = (
    ("kilometre", "metre", 1000),
    ("kilogram", "gram", 1000),
    ("hour", "minute", 60),
    ("minute", "second", 60),
    ("day", "hour", 24),
    ("week", "day", 7),
    ("year", "month", 12),
)


def find_converted(value: float, schema: JsonSchema, text: str) -> Found | None:
    """Return where `text` says `value` in a larger unit than the schema's description names."""
    factors = _factors(f"{schema.get('title', '')} {schema.get('description', '')}".lower())
    if not factors:
        return None
    plain = folded(text)
    for number in find_numbers(text):
        for unit, factor in factors:
            if not same_number(float(str(number.value)) * factor, value):
                continue
            if plain.text is text:
                match = unit.search(plain.text, number.end)
            else:
                match = unit.search(text.lower(), number.end)
            if match and not text[number.end : match.start()].strip(" -"):
                return Found(value, number.start, match.end(), CONVERTED)
    return None


@lru_cache(4096)
def _factors(topic: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple(
        (LanguagePattern(f"@{{unit_{unit}}}", re.RegexFlag(0)).everywhere, factor)
        for unit, meant, factor in _CONVERSIONS
        if LanguagePattern(f"@{{topic_{meant}}}", re.RegexFlag(0)).everywhere.search(topic)
    )
