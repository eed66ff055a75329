"""Numbers written in digits: 1,200  3.5  -4  1.5万  80k  15%  $20  5kg."""

import re
from collections.abc import Iterator
from typing import NamedTuple

NUMBER = "number"
WORDS = "number word"
ORDINAL = "ordinal"
PERCENT = "percent"

_MAGNITUDES = {
    "万": 10_000, "亿": 100_000_000, "千": 1000, "百": 100, "k": 1000, "hundred": 100, "thousand": 1000,
    "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12,
}  # fmt: skip
# letters that may touch a number; any others make it part of a name, such as B6789X or A4
_UNITS = (
    "kg|km|kmh|mph|kw|kwh|kb|m|cm|mm|mg|ml|mb|g|gb|l|lb|lbs|oz|ft|in|tb|w|s|h|d|hz|ghz|mhz|hr|hrs|min|mins|sec|secs"
    "|day|days|hour|hours|minutes|usd|rmb|eur|gbp|cny|yuan|sqm|sq|px|c|f"
)
_DIGITS = re.compile(
    r"(?P<hundredths>百分之)?(?P<sign>(?<![\w)\]])-(?=\d)|负|(?<![a-z])minus\s)?(?<![a-z\d.:/_#@])(?<!\d[,-])"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s*(?P<magnitude>(?:[万亿百]|千(?![克米瓦卡赫帕伏焦]))(?!分)|(?:hundred|thousand|million|billion|dozen)(?![a-z])|k(?![a-z\d])))?"
    r"(?:(?P<percent>\s*%|\s*per\s?cent(?![a-z]))|(?P<ordinal>(?:st|nd|rd|th)(?![a-z])))?"
    rf"(?![\d/:]|\.\d|,\d{{3}})(?=(?:{_UNITS})?(?![a-z\d_@]))"
)


class Number(NamedTuple):
    """A number said at `start`..`end` of folded text."""

    value: float
    start: int
    end: int
    rule: str


def digit_numbers(text: str) -> Iterator[Number]:
    """The numbers that folded `text` writes in digits."""
    for match in _DIGITS.finditer(text):
        digits = match["digits"].replace(",", "")
        value = float(digits) if "." in digits else int(digits)
        if match["magnitude"]:
            value = _scaled(value, _MAGNITUDES[match["magnitude"]])
        rule = PERCENT if match["percent"] or match["hundredths"] else ORDINAL if match["ordinal"] else NUMBER
        start = match.start("digits") if rule == NUMBER and not match["sign"] else match.start()
        yield Number(-value if match["sign"] else value, start, match.end(), rule)


def _scaled(value: float, magnitude: int) -> float:
    """1.1 million is 1,100,000 and not 1,100,000.0000000001."""
    return value * magnitude if isinstance(value, int) else float(f"{value * magnitude:.12g}")
