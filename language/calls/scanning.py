"""A text that is being parsed: its typed values, quotations, sentences and options, and which stretches are claimed already."""

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView
from callwright.language.dates import date_spans, find_dates
from callwright.language.names import humanise
from callwright.language.numbers import find_numbers
from callwright.language.packs import signs, widened
from callwright.language.readers.moments import find_times
from callwright.language.text import Found
from callwright.language.values import read_value

_PAIRS = zip(signs('"“«{open}'), signs('"”»{close}'), strict=True)
_QUOTED = re.compile(
    "|".join(rf"{left}([^{right}\n]{{1,400}}){right}" for left, right in _PAIRS) + r"|(?<![\w'])'([^'\n]{1,400})'(?!\w)"
)
_SENTENCE_END = re.compile(widened(r"[!?;](?=\s|$)|(?<!\bSt)(?<!\bMr)(?<!\bDr)(?<!\bNo)\.(?=\s|$)|@[{.!?;}\n]"))
_GLUED = re.compile(r"[A-Za-z0-9_]")


class Quote(NamedTuple):
    """Words in quotation marks; `start` and `end` are around the marks."""

    words: str
    start: int
    end: int


class ParsedValue(NamedTuple):
    """A value and where the text says it."""

    value: JsonValue
    start: int
    end: int


class Hearing:
    """One text, with what was found in it and what of it is claimed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.claims: list[tuple[int, int]] = []

    @cached_property
    def lower(self) -> str:
        """The text in lower case where that keeps every place, else as it is."""
        lowered = self.text.lower()
        return lowered if len(lowered) == len(self.text) else self.text

    @cached_property
    def quotes(self) -> list[Quote]:
        """What stands in quotation marks."""
        return [
            Quote(next(filter(None, match.groups()), ""), match.start(), match.end())
            for match in _QUOTED.finditer(self.text)
        ]

    @cached_property
    def dates(self) -> list[Found]:
        """The dates outside quotation marks."""
        return [found for found in find_dates(self.text) if not self.is_quoted(found.start)]

    @cached_property
    def times(self) -> list[Found]:
        """The times of day outside quotation marks."""
        return [found for found in find_times(self.text) if not self.is_quoted(found.start)]

    @cached_property
    def numbers(self) -> list[Found]:
        """The numbers that are no part of a date, a time, a code or a quotation."""
        taken = [*date_spans(self.text), *((found.start, found.end) for found in self.times)]
        return [
            found
            for found in find_numbers(self.text)
            if not any(start < found.end and found.start < end for start, end in taken)
            and not self._is_glued(found)
            and not self.is_quoted(found.start)
        ]

    @cached_property
    def stops(self) -> list[int]:
        """Where sentences end, quotations not counted."""
        return [match.start() for match in _SENTENCE_END.finditer(self.text) if not self.is_quoted(match.start())]

    def sentence_end(self, start: int) -> int:
        """Where the sentence around `start` ends."""
        return next((stop for stop in self.stops if stop >= start), len(self.text))

    def is_quoted(self, at: int) -> bool:
        """Whether the place `at` is inside quotation marks."""
        return any(quote.start < at < quote.end for quote in self.quotes)

    def claim(self, start: int, end: int) -> None:
        """Note that `start`..`end` is spoken for."""
        self.claims.append((start, end))

    def is_free(self, start: int, end: int) -> bool:
        """Whether nothing of `start`..`end` is spoken for."""
        return not any(first < end and start < last for first, last in self.claims)

    def _is_glued(self, found: Found) -> bool:
        before, after = self.text[found.start - 1 : found.start], self.text[found.end : found.end + 1]
        if not self.text[found.start].isascii():
            return False
        return bool(
            _GLUED.match(before)
            or (before == "-" and found.start > 1 and self.text[found.start - 2].isalnum())
            or (after.isalpha() and after.isascii() and after.isupper())
            or (after == "-" and self.text[found.end + 1 : found.end + 2].isdigit())
        )


def find_choice(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    """The option that is stated first between `start` and `end`, the longer of two that begin there."""
    hits = []
    for spelling, option in options_of(orjson.dumps(parameter.schema.get("enum") or [parameter.schema.get("const")])):
        at = parsed.lower.find(spelling, start, end)
        if at >= 0 and not _cuts_word(parsed.lower, at, at + len(spelling)):
            hits.append((at, -len(spelling), at + len(spelling), option))
    if not hits:
        value = read_value(parsed.text[start:end][:60], parameter.schema)
        return None if value is None else ParsedValue(value, start, end)
    at, _, stop, option = min(hits, key=lambda hit: hit[:2])
    return ParsedValue(option, at, stop)


def _cuts_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    left = before.isalnum() and before.isascii() and text[start].isascii() and start > 0
    return left or (after.isalnum() and after.isascii() and text[end - 1].isascii())


@lru_cache(4096)
def options_of(choices: bytes) -> tuple[tuple[str, JsonValue], ...]:
    """The ways to write each option of a choice, lower case."""
    options = [option for option in orjson.loads(choices) if option is not None]
    spellings = [(str(option).lower(), option) for option in options]
    spellings += [(humanise(option).lower(), option) for option in options if isinstance(option, str)]
    return tuple({spelling: option for spelling, option in spellings if spelling}.items())
