"""Times of day in Spanish: las 19:30, las siete y media de la tarde, la una menos cuarto, mediodía."""

import re
from collections.abc import Iterator
from random import Random

from callwright.language.es.numerals import hour_in_words, small_numbers
from callwright.language.protocol import ClockReading

_NUMBERS = small_numbers()
_NOON = 12
_HOUR = "|".join(sorted((word for word, number in _NUMBERS.items() if number <= _NOON), key=len, reverse=True))
_MINUTES = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_PART = r"(?:de\s+la\s+|por\s+la\s+|del\s+|de\s+)(?P<part>manana|tarde|noche|madrugada|mediodia)|(?P<half_day>[ap])\.?\s?m\b\.?"
_CLOCK = re.compile(
    r"(?<![\w.:/$€£¥-])(?:(?P<article>las?)\s+)?(?:"
    r"(?P<h1>\d{1,2})[:.h](?P<n1>[0-5]\d)(?::[0-5]\d)?(?:\s?h(?:oras|s)?\b)?"
    rf"|(?P<h2>\d{{1,2}}|{_HOUR})(?:\s+(?P<way>y|menos|con)\s+(?P<n2>media|cuarto|{_MINUTES}|\d{{1,2}})(?:\s+minutos)?)?"
    rf")(?![\d:]|\.\d)(?P<sharp>\s+en\s+punto)?(?:[\s,]*(?:{_PART}))?(?!\w)"
)
_NAMED = re.compile(r"(?<![a-z])(?<!del\s)(?:el\s+|la\s+)?(?P<name>mediodia|medianoche)(?![a-z])")
_HINT = re.compile(r"\d[:.h]\d\d|\blas?\s|\d\s?[ap]\.?\s?m\b|en punto")
_NAMED_HINT = re.compile("mediodia|medianoche")
_ROUND = {"media": 30, "cuarto": 15}
_LAST_AFTERNOON = 7
_WRITTEN = {0: "{0}", 15: "{0} y cuarto", 30: "{0} y media", 45: "{1} menos cuarto"}


def spanish_readings(text: str) -> Iterator[ClockReading]:
    """The times of day in folded `text`."""
    if _NAMED_HINT.search(text):
        for match in _NAMED.finditer(text):
            yield ClockReading(*match.span(), 0 if match["name"] == "medianoche" else _NOON, 0, "named")
    if _HINT.search(text):
        for match in _CLOCK.finditer(text):
            reading = _reading(match, text)
            if reading:
                yield reading


def _reading(match: re.Match[str], text: str) -> ClockReading | None:
    hour = _number(match["h1"] or match["h2"])
    if match["h1"]:
        # 7.30 is a number, las 7.30 is a time
        is_time = match["article"] or match["part"] or match["half_day"] or text[match.end("h1")] != "."
        return ClockReading(*match.span(), hour, int(match["n1"]), _part(match, hour)) if is_time else None
    stated = match["part"] or match["half_day"] or match["sharp"]
    if not stated and not (match["article"] and (match["way"] or _ends(text, match.end()))):
        return None
    if not match["article"] and not stated:
        return None
    minutes = _ROUND.get(match["n2"] or "") or _number(match["n2"] or "0")
    if match["way"] == "menos":
        hour, minutes = (_NOON if hour == 1 else hour - 1), 60 - minutes
    return ClockReading(*match.span(), hour, minutes, _part(match, hour))


def _ends(text: str, at: int) -> bool:
    """Whether no noun follows: "las siete" is a time, "las siete maletas" are suitcases."""
    return re.match(r"\s*(?:$|[.,;:!?\"'»)]|(?:y|del?|para|en|a|el|hasta|con|por|como)\b)", text[at:]) is not None


def _part(match: re.Match[str], hour: int) -> str:
    if match["half_day"]:
        return match["half_day"] + "m"
    parts = {"manana": "morning", "noche": "night", "madrugada": "small hours", "mediodia": "noon"}
    if match["part"] == "tarde":
        return "afternoon" if hour <= _LAST_AFTERNOON or hour == _NOON else "evening"
    return parts.get(match["part"] or "", "")


def _number(words: str) -> int:
    return int(words) if words.isdecimal() else _NUMBERS.get(words, 0)


def write_clock(hour: int, minute: int, rng: Random) -> str:
    """One way in which a person states this time, in words that can mean no other."""
    on_clock, following = hour % _NOON or _NOON, (hour + 1) % _NOON or _NOON
    part = _part_of_day(hour)
    article = "la" if on_clock == 1 else "las"
    digits = f"las {hour:02}:{minute:02}" if hour > _NOON else f"{article} {on_clock}:{minute:02} {part}"
    forms = [digits]
    if minute in _WRITTEN:
        forms.append(f"{_WRITTEN[minute].format(hour_in_words(on_clock), hour_in_words(following))} {part}")
    return rng.choice(forms)


def _part_of_day(hour: int) -> str:
    if hour == 0:
        return "de la noche"
    for limit, part in ((6, "de la madrugada"), (12, "de la mañana"), (13, "del mediodía"), (20, "de la tarde")):
        if hour < limit:
            return part
    return "de la noche"
