"""Clock readings in English: 7:30 pm, half past seven in the evening, seven thirty pm, noon."""

import re
from collections.abc import Iterator

from callwright.language.en.numerals import parse_english, unit_words
from callwright.language.protocol import ClockReading

# ruff: noqa: PLR2004 - hours and minutes are what this file is about


_HOUR = (
    r"(?:\d{1,2}|" + "|".join(sorted((w for w, n in unit_words().items() if 1 <= n <= 12), key=len, reverse=True)) + ")"
)
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_MINUTES = (
    rf"(?:(?:twenty|thirty|forty|fifty)(?:[ -](?:{_ONES}))?|o[h']?[ -](?:{_ONES})|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
_TO_PAST = {"half": 30, "quarter": 15, "twenty-five": 25, "twenty": 20, "ten": 10, "five": 5}
_PART = (
    r"(?:(?P<half_day>[ap])\.?\s?m\b\.?|(?:in\s+the|this|tomorrow|early|late)\s+(?:early\s+|late\s+)?"
    r"(?P<part>morning|afternoon|evening)\b|(?P<night>at\s+night|tonight|tomorrow\s+night)\b)"
)
_LEAD = r"(?:\b(?P<lead>morning|afternoon|evening|tonight|night)(?:,|\s+at|\s+around|\s+from|\s+by)?\s+)?"
_CLOCK = re.compile(
    rf"(?<![\w.:/$€£¥-]){_LEAD}(?:"
    rf"(?:a\s+)?(?P<past>half|quarter|twenty[ -]five|twenty|ten|five)\s+(?P<way>past|after|to|before|till)\s+"
    rf"(?P<h1>{_HOUR})"
    r"|(?P<h2>\d{1,2})[:.](?P<n2>[0-5]\d)(?::[0-5]\d)?"
    rf"|(?P<h3>{_HOUR})(?:\s+(?P<n3>{_MINUTES}))?"
    rf")(?![\d:]|\.\d)(?P<clock>\s*o'?\s?clock\b)?(?:[\s,]*(?:sharp\s*)?{_PART})?(?!\w)"
)
_NAMED = re.compile(
    r"(?<![a-z])(?:(?:12|twelve)(?:\s*o'?\s?clock)?\s+)?(?:at\s+)?(?P<name>noon|midday|midnight)(?![a-z])"
)
_HINT = re.compile(
    r"\d[:.]\d\d|\d\s?[ap]\.?\s?m\b|\b[ap]\.?m\b|clock|past|quarter|half|night|morning|afternoon|evening| to "
)
_NAMED_HINT = re.compile("noon|mid(?:day|night)")


def english_readings(text: str) -> Iterator[ClockReading]:
    """The clock readings in folded `text`."""
    if _NAMED_HINT.search(text):
        for match in _NAMED.finditer(text):
            yield ClockReading(*match.span(), 0 if match["name"] == "midnight" else 12, 0, "named")
    if not _HINT.search(text):
        return
    for match in _CLOCK.finditer(text):
        reading = _reading(match, _part(match), text)
        if reading:
            yield reading


def _reading(match: re.Match[str], part: str, text: str) -> ClockReading | None:
    if match["past"]:
        return _past(match, part)
    if match["h2"]:
        # 7.30 is a number, 7.30 pm is a time
        is_time = part or match["clock"] or text[match.end("h2")] == ":"
        return ClockReading(*match.span(), int(match["h2"]), int(match["n2"]), part) if is_time else None
    if part or match["clock"]:
        return ClockReading(*match.span(), _number(match["h3"]), _minutes(match["n3"]), part)
    return None


def _part(match: re.Match[str]) -> str:
    if match["half_day"]:
        return match["half_day"] + "m"
    if match["part"]:
        return match["part"]
    if match["night"] or match["lead"] in ("night", "tonight"):
        return "night"
    return match["lead"] or ""


def _past(match: re.Match[str], part: str) -> ClockReading:
    minutes = _TO_PAST[match["past"].replace(" ", "-")]
    hour = _number(match["h1"])
    if match["way"] in ("past", "after"):
        return ClockReading(*match.span(), hour, minutes, part)
    # "quarter to one in the afternoon" belongs to the hour before, whose part of the day may be another
    return ClockReading(*match.span(), 12 if hour == 1 else hour - 1, 60 - minutes, part)


def _minutes(words: str | None) -> int:
    if not words:
        return 0
    return _number(re.sub(r"^o[h']?[ -]", "", words))


def _number(words: str) -> int:
    number = int(words) if words.isdecimal() else parse_english(words)
    return int(number or 0)
