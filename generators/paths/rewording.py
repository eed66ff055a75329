"""A request with other values in the same words."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from llm.language.folding import fold
from llm.language.found import Found
from llm.language.locating import locate
from llm.language.writing import write_value
from warehouse.records import JsonSchema, Language

_MASK = "\u25a1"
_MOST_MENTIONS = 6


class Change(NamedTuple):
    """A value that the request says, and the one that it is to say instead."""

    old: JsonValue
    new: JsonValue
    schema: JsonSchema


class _Span(NamedTuple):
    start: int
    end: int
    words: str


def mentions(value: JsonValue, schema: JsonSchema, text: str) -> list[Found]:
    """Every place where a text says a value."""
    found: list[Found] = []
    left = text
    while len(found) < _MOST_MENTIONS:
        one = locate(value, schema, left)
        if one is None or one.start >= one.end:
            break
        found.append(one)
        left = left[: one.start] + _MASK * (one.end - one.start) + left[one.end :]
    return found


def reword(request: str, changes: Iterable[Change], language: Language, rng: Random) -> str:
    """The request with the new values in the place of the old ones."""
    spans = _without_overlaps([span for change in changes for span in _spans(request, change, language, rng)])
    text, position = "", 0
    for span in spans:
        text += request[position : span.start] + span.words
        position = span.end
    return text + request[position:]


def still_said(request: str, changes: Iterable[Change]) -> bool:
    """Whether a text that was to go is still in the request, and is no part of a new one."""
    changed = [(fold(str(one.old)), one) for one in changes if isinstance(one.old, str)]
    news = [fold(str(one.new)) for _, one in changed]
    plain = fold(request)
    return any(old in plain and not any(old in new for new in news) for old, _ in changed)


def _spans(request: str, change: Change, language: Language, rng: Random) -> Iterator[_Span]:
    for found in mentions(change.old, change.schema, request):
        words = request[found.start : found.end]
        said = str(change.new) if words == change.old else write_value(change.new, change.schema, language, rng)
        if words.endswith(".") and not said.endswith(".") and not request[found.end : found.end + 2].strip().islower():
            said += "."  # the full stop of an abbreviation was the sentence's as well
        yield _Span(found.start, found.end, said)


def _without_overlaps(spans: list[_Span]) -> list[_Span]:
    """The longer of two that overlap, in the order of the text."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)
