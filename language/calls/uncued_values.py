"""Values that need no cue because only one parameter can take them: the only date, a route, an option that is stated."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import orjson

from callwright.language.calls.codes import CURRENCIES
from callwright.language.calls.cued_values import in_text
from callwright.language.calls.parameters import CODED
from callwright.language.calls.scanning import Hearing, ParsedValue, options_of
from callwright.language.calls.tools import ParameterView
from callwright.language.names import words
from callwright.language.packs import LanguagePattern, packs_of, unspaced, widened
from callwright.language.schemas import fits
from callwright.language.text import Found

_ROUTE, _PLACE, _PERSON = (LanguagePattern(cue, re.RegexFlag(0)) for cue in ("@{route}", "@{place}", "@{person}"))
_COUNT = re.compile(r"\s*([A-Za-z]+)")
_SHAPES = {
    "email": re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+"),
    "link": re.compile(widened(r"https?://@[^\s\"',{.}]+@[^\s\"',.!?]")),
    "phone": re.compile(r"(?<![\w\-])\+?\d[\d\-]{6,16}\d(?![\w\-])"),
    "card": re.compile(r"(?<![\w\-])\d{4}[\s\-]?\d{4}[\s\-]?\d{4}[\s\-]?\d{3,4}(?![\w\-])"),
    "plate": re.compile(
        rf"[{unspaced()}][A-Z][A-Z0-9]{5,6}(?![A-Za-z0-9])|\b[A-Z][a-z]+ [A-Z][A-Z0-9]{4,6}(?![A-Za-z0-9])"
        r"|(?<![\w\-])[A-Z]{2,3}-\d{3,4}(?![\w\-])"
    ),
    "code": re.compile(r"(?<![A-Za-z0-9\-])(?=[A-Za-z\-]*\d)(?:[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*|\d{5,})(?![A-Za-z0-9\-])"),
    "airport": re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])"),
    "currency": re.compile(r"(?<![A-Za-z])(?:" + "|".join(CURRENCIES) + r")(?![A-Za-z])"),
    "month": re.compile(r"(?<![\d\-])\d{4}-(?:0[1-9]|1[0-2])(?![\d\-])"),
}  # fmt: skip
_QUOTABLE = frozenset(
    words(
        "text message task title note reason problem details query product food music film book file category job"
        " company"
    )
)
_A_PAIR = 2  # a start and an end
_DATED = frozenset({"date", "birthday"})


def recognise(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    """Readings for parameters that no cue has filled, each from words that nothing else has claimed."""
    if not parameters:
        return
    found: set[str] = set()
    for find in (_shapes, _moments, _route, _clocks, _counts, _options, _quotes, _names):
        for name, reading in [one for one in find(parameters, parsed) if one[0] not in found]:
            found.add(name)
            parsed.claim(reading.start, reading.end)
            yield name, reading


def _only(parameters: Sequence[ParameterView], kinds: frozenset[str]) -> ParameterView | None:
    here = [one for one in parameters if one.kind in kinds]
    return here[0] if len(here) == 1 else None


def _shapes(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    for one in parameters:
        alone = _only(parameters, frozenset({one.kind}))
        pattern = in_text(str(one.schema["pattern"])) if one.kind == "pattern" else _SHAPES.get(one.kind)
        if alone is None or pattern is None or (one.kind == "pattern" and _is_loose(str(one.schema["pattern"]))):
            continue
        dated = [(found.start, found.end) for found in parsed.dates] if one.kind in ("phone", "code") else []
        hits = [
            match
            for match in pattern.finditer(parsed.text)
            if parsed.is_free(*match.span()) and not any(s < match.end() and match.start() < e for s, e in dated)
        ]
        if len({match.group() for match in hits}) == 1 and fits(hits[0].group(), one.schema):
            yield one.name, ParsedValue(hits[0].group(), *hits[0].span())


def _is_loose(pattern: str) -> bool:
    """Whether a pattern would take any word: it has no digit and no letter of its own."""
    return not re.search(r"\\d|\[0-9|\d\]", pattern)


def _moments(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    one = _only(parameters, frozenset({"moment"}))
    days, clocks = _free(parsed.dates, parsed), _free(parsed.times, parsed)
    if one is None or len(days) != 1 or len(clocks) != 1 or not str(days[0].value)[0].isdigit():
        return
    value = f"{days[0].value} {clocks[0].value}"
    if fits(value, one.schema):
        yield one.name, ParsedValue(value, min(days[0].start, clocks[0].start), max(days[0].end, clocks[0].end))


def _clocks(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    for kinds, typed in ((_DATED, _free(parsed.dates, parsed)), (frozenset({"time"}), _free(parsed.times, parsed))):
        here = [one for one in parameters if one.kind in kinds]
        found = typed
        if not typed and len(here) == 1 and here[0].spoken is not here[0].schema:
            found = _free(parsed.dates, parsed)  # many a parameter called "time" takes a day
        if len(here) == len(found) and len(here) <= _A_PAIR:
            for one, hit in zip(here, found, strict=True):
                value = _clock_value(one, hit, parsed)
                if value is not None:
                    yield one.name, ParsedValue(value, hit.start, hit.end)


def _clock_value(one: ParameterView, hit: Found, parsed: Hearing) -> str | None:
    value = str(hit.value)
    if (value[0].isdigit() or one.spoken is one.schema) and fits(value, one.schema) and value[0].isdigit():
        return value
    words = parsed.text[hit.start : hit.end]
    return words if one.spoken is not one.schema and fits(words, one.schema) else None


def _free(found: list[Found], parsed: Hearing) -> list[Found]:
    return [one for one in found if parsed.is_free(one.start, one.end)]


def _route(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    start, end = _only(parameters, frozenset({"origin"})), _only(parameters, frozenset({"destination"}))
    if start is None and end is None:
        return
    matches = (_ROUTE.among((pack,)).search(parsed.text) for pack in packs_of(parsed.text))
    match = next(filter(None, matches), None)
    if match and parsed.is_free(*match.span()):
        for one, group in ((start, "o"), (end, "d")):
            if one and fits(match[group], one.schema):
                yield one.name, ParsedValue(match[group], *match.span(group))


def _counts(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    """A number with the unit of a parameter behind it; the only number for the only parameter that counts."""
    numeric = [one for one in parameters if one.is_number]
    numbers = _free(parsed.numbers, parsed) if numeric else []
    if len(numeric) != 1 or len(numbers) != 1:
        return
    one, hit = numeric[0], numbers[0]
    value = hit.value if one.schema.get("type") in ("integer", "number") else str(hit.value)
    if fits(value, one.schema):
        yield one.name, ParsedValue(value, hit.start, hit.end)


def _options(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    for one in parameters:
        if one.kind != "choice":
            continue
        hits = {}
        for spelling, option in options_of(orjson.dumps(one.schema.get("enum") or [one.schema.get("const")])):
            match = _option(spelling).search(parsed.lower)
            if match and parsed.is_free(*match.span()) and not spelling.isdecimal():
                hits[str(option)] = (len(spelling), ParsedValue(option, *match.span()))
        if len(hits) == 1:
            yield one.name, next(iter(hits.values()))[1]


@lru_cache(8192)
def _option(spelling: str) -> re.Pattern[str]:
    edge = r"(?<![a-z0-9])" if spelling[0].isascii() else ""
    return re.compile(edge + re.escape(spelling) + (r"(?![a-z0-9])" if spelling[-1].isascii() else ""))


def _quotes(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    one = _only(parameters, _QUOTABLE)
    free = [quote for quote in parsed.quotes if parsed.is_free(quote.start, quote.end)]
    if one and len(free) == 1 and fits(free[0].words, one.schema):
        yield one.name, ParsedValue(free[0].words, free[0].start, free[0].end)


def _names(parameters: Sequence[ParameterView], parsed: Hearing) -> Iterator[tuple[str, ParsedValue]]:
    for kinds, cue in ((frozenset({"place", "origin", "destination"}), _PLACE), (frozenset({"person"}), _PERSON)):
        one = _only(parameters, kinds)
        patterns = [cue.among((pack,)) for pack in packs_of(parsed.text)]
        for match in (match for pattern in patterns for match in pattern.finditer(parsed.text)):
            if one and parsed.is_free(*match.span("n")) and one.kind not in CODED and fits(match["n"], one.schema):
                yield one.name, ParsedValue(match["n"], *match.span("n"))
                break
