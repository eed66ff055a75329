"""What a request takes back or says not to be meant, beside what holds: "at six, no, at seven", "Ben Hale, not Ben Stone"."""

import re
from collections.abc import Iterator, Sequence

from callwright.language.cues import cue_words
from callwright.language.plain_words import clauses_of
from callwright.language.readers.mentions import Moment
from callwright.language.readers.quantities import Quantity
from callwright.language.vocabulary import find_corrections
from callwright.validators.readings.request_text import RequestText, Span, touches

_CLOSE, _FAR = 12, 60  # characters between a correction or a contrast and the values around it
_FEW_CHARACTERS = 3  # by which what is not meant may be longer than twice what is
_NAME = re.compile(r"([A-ZÀ-Þ][\w'-]*(?:\s+[A-ZÀ-Þ][\w'-]*)*)[\s,.;!…-]*(?:(?:a|al|en|to|in|at)\s)?$")

_ADDRESS = re.compile(r"([\w.+-]+@[\w-]+\.[\w.-]*\w)[\s,.;!\"”…-]*(?:oh[\s,]*)?$", re.IGNORECASE)


def taken_back_in(text: RequestText, spans: Sequence[Span]) -> list[Span]:
    """What a correction or a contrast takes back, where the gold has the value that holds instead."""
    cues = [match.span() for match in cue_words(text.language).patterns["correction"].finditer(text.text)]
    cues += [(one.start, one.end) for one in find_corrections(text.text)]
    found = [one for start, end in cues if (one := _corrected(text, spans, start, end))]
    return [*found, *_contrasted(text, spans), *text.replaced]


def _corrected(text: RequestText, spans: Sequence[Span], start: int, end: int) -> Span | None:
    """From the value before a correction to the value of the gold after it."""
    mentions: list[Quantity | Moment] = [*text.quantities, *text.moments]
    after = min((one for one in spans if one.start >= start), default=None)
    if after is None or after.start - end > _FAR or any(end <= one.start < after.start for one in mentions):
        return None
    before = [
        one.start for one in mentions if 0 <= start - one.end <= _FAR and not touches(spans, one.start, one.end)
    ]  # fmt: skip
    stated = cue_words(text.language).patterns["courtesy"].sub(lambda match: " " * len(match[0]), text.text[:start])
    name = _NAME.search(stated) if text.quote(after)[:1].isupper() else None
    if name and not touches(spans, name.start(1), name.end(1)):
        before.append(name.start(1))
    address = _ADDRESS.search(stated) if _ADDRESS.match(f"{text.quote(after)} ") else None
    if address and not touches(spans, *address.span(1)):
        before.append(address.start(1))
    if not before and text.question:
        before = [_clause_before(text, spans, start)]
    begin = max(before, default=start)
    while begin and text.text[begin - 1].isascii() and text.text[begin - 1].isalnum():
        begin -= 1  # the letters of a code
    return Span(begin, after.start)


def _clause_before(text: RequestText, spans: Sequence[Span], at: int) -> int:
    """Where the answer begins that a correction takes back, be it a name: "the book club. No, the choir"."""
    clauses = [one for one in clauses_of(text.text[:at], text.language) if not touches(spans, *one)]
    return clauses[-1].start if clauses and at - clauses[-1].end <= _CLOSE else at


def _contrasted(text: RequestText, spans: Sequence[Span]) -> Iterator[Span]:
    """What is said not to be meant, beside what is: "Ben Hale, not Ben Stone", "three rather than five"."""
    patterns = cue_words(text.language).patterns
    for match in patterns["but_contrast"].finditer(text.text):
        if any(one.start == match.end() for one in spans) and not touches(spans, *match.span(1)):
            yield Span(*match.span())
    for match in patterns["contrast"].finditer(text.text):
        end = next(
            (clause.end for clause in clauses_of(text.text, text.language) if clause.end > match.end()), match.end()
        )
        before = [one for one in spans if 0 <= match.start() - one.end <= _CLOSE]
        other = Span(match.end(), end)
        if before and not touches(spans, *other) and _is_alike(text, before[-1], other):
            yield Span(match.start(), end)


def _is_alike(text: RequestText, one: Span, other: Span) -> bool:
    """Whether both are numbers or days, or both are names."""
    is_mention = touches(text.mentions, *one)
    if is_mention or touches(text.mentions, *other):
        return is_mention and touches(text.mentions, *other)
    first, second = text.quote(one)[:1], text.quote(other)[:1]
    is_short = other.end - other.start <= 2 * (one.end - one.start) + _FEW_CHARACTERS
    return is_short and ((first.isupper() and second.isupper()) or not (first.isascii() or second.isascii()))
