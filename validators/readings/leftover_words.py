"""Words of a wish that nothing accounts for, and that change nothing: slang, emphasis, a remark made in passing.

A word that is left over matters where it could be a value, qualify one, or ask for something else. Everything else about
a request may be worded as people like.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from callwright.language.calls.actions import own_words
from callwright.language.cues import cue_words, deeds_of_tool, deeds_stated, find_choices, find_cues, harmless_uses
from callwright.language.plain_words import Clause, clauses_of, is_remark, plain_words, unknown_words, vocabulary
from callwright.language.readers.glosses import glosses_of
from callwright.language.schemas import choices_of, kind_of
from callwright.language.text import fold
from callwright.language.wording import content_keys
from callwright.validators.checks.verdicts import Finding, belongs_to_nothing
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    naming_words,
    same_days,
    spans_of,
    touches,
)
from callwright.validators.readings.taken_back import taken_back_in
from callwright.warehouse.records import Tool

_MOST_WORDS, _MOST_CHARACTERS = 2, 2  # in a clause; of a script without spaces, characters
_SHORTEST = 3  # letters; shorter ones are units, codes and parts of names
_GAP = re.compile(r"[\s\"'’-]*s?\s*")
_LOOSE = frozenset({"string", "array"})
_FEW_CHARACTERS = 3
_DAY, _A_DAY = re.compile(r"\d{4}-\d{2}-\d{2}"), 86400
_EACH_BEFORE = re.compile(r"\b(?:every|each|all|both|cada)\s+$", re.IGNORECASE)


def words_left(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """Words of a wish that are neither a value nor of the tool's document, nor what people say in any request."""
    if text.own < len(text.text):  # the words that point to a message are nobody's
        return
    spans = spans_of(readings)
    known = [*spans, *(one for one in text.mentions if touches(spans, *one)), *taken_back_in(text, spans)]
    deeds = deeds_of_tool(tool.name, text.language)
    known += [Span(start, end) for deed, start, end in deeds_stated(text.text, text.language) if deed in deeds]
    known += [Span(cue.start, cue.end) for cue in find_cues(text.text, text.language)]
    known += [Span(*one) for one in harmless_uses(text.text, text.language)]
    known += [*stated_again(text, leaves, readings), *own_phrases(tool, text), *same_days(text, known)]
    if text.is_shifted:
        known += [Span(*one.span()) for one in cue_words(text.language).patterns["once_more"].finditer(text.text)]
    days = [Span(each.start, each.end) for each in text.moments]
    known += [
        Span(*match.span()) for span in spans if not touches(days, *span)
        if (match := _EACH_BEFORE.search(text.text[: span.start]))
    ]  # fmt: skip
    spoken = vocabulary(document_of(tool, leaves))
    own = text.text[: text.own]
    stated = list(zip(leaves, readings, strict=True))
    unknown = list(unknown_words(own, text.language, known, spoken))
    for clause in clauses_of(own, text.language):
        left = [
            one for one in unknown if clause.start <= one[0] < clause.end and not _is_narrated(tool, text, stated, one)
        ]  # fmt: skip
        if not left or (not touches(spans, *clause) and is_remark(own[clause.start : clause.end], text.language)):
            continue
        last = max((one.end for one in spans if clause.start <= one.start < clause.end), default=clause.start)
        if last <= left[0][0] and text.tells_why(clause, spans):
            continue
        if _is_harmless(tool, text, stated, clause, left):
            continue
        words = " ".join(own[start:end] for start, end in left)
        yield belongs_to_nothing(words)


def own_phrases(tool: Tool, text: RequestText) -> list[Span]:
    """Where a text has what people say for the tool's deed, as the language lists it."""
    phrases = own_words(tool.name, tool.description)
    found = (match for phrase in phrases for match in re.finditer(re.escape(phrase), text.text, re.IGNORECASE))
    return [Span(*match.span()) for match in found]


def stated_again(
    text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Span]:
    """Where a text that is said once is said again, and how many days it is from one to another that are stated."""
    yield from _lengths_between(text, leaves, readings)
    for leaf, reading in zip(leaves, readings, strict=True):
        if isinstance(leaf.value, str) and reading.grade == "proved" and len(leaf.value) > _FEW_CHARACTERS:
            yield from (Span(*match.span()) for match in re.finditer(re.escape(leaf.value), text.text, re.IGNORECASE))
        if isinstance(leaf.value, str) and reading.grade == "proved" and choices_of(leaf.schema):
            for name in (leaf.value, *filter(None, [glosses_of(leaf.schema).get(leaf.value)])):
                yield from (Span(one.start, one.end) for one in find_choices(name, text.text, text.language))


def _lengths_between(
    text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Span]:
    days = [
        date.fromisoformat(leaf.value) for leaf, reading in zip(leaves, readings, strict=True)
        if isinstance(leaf.value, str) and _DAY.fullmatch(leaf.value) and reading.grade == "proved"
    ]  # fmt: skip
    length = (max(days) - min(days)).days if len(days) == 2 else 0  # noqa: PLR2004
    for one in text.quantities:
        is_days = one.unit is not None and one.unit.dimension == "duration" and one.unit.factor == _A_DAY
        if length and is_days and one.value in (length, length + 1):
            yield Span(one.start, one.end)


def described(tool: Tool) -> str:
    """All that the tool's document says in words, to compare with."""
    schemas = " | ".join(str(schema.get("description", "")) for schema in tool.properties.values())
    return fold(f"{tool.description} | {' | '.join(own_words(tool.name, tool.description))} | {schemas}")


def document_of(tool: Tool, leaves: Sequence[ArgumentLeaf]) -> tuple[str, ...]:
    """What the tool's document says of the tool and of the parameters that the call fills, and what people say for its deed."""
    texts = [tool.name, tool.description, *own_words(tool.name, tool.description)]
    for leaf in leaves:
        schema = tool.properties.get(leaf.argument, {})
        texts += [leaf.argument, leaf.name, str(schema.get("description", "")), str(leaf.schema.get("description", ""))]
    return tuple(texts)


def _is_harmless(
    tool: Tool,
    text: RequestText,
    stated: Sequence[tuple[ArgumentLeaf, ArgumentReading]],
    clause: Clause,
    left: Sequence[tuple[int, int]],
) -> bool:
    """Whether the words `left` over in a clause are none of a value, a qualifier of one, a member of a list, a deed."""
    words = plain_words(text.language)
    size = len(left) if words.is_spaced else sum(end - start for start, end in left)
    if size > (_MOST_WORDS if words.is_spaced else _MOST_CHARACTERS):
        return False
    spans = [span for _, reading in stated for span in reading.spans]
    if words.decisive.search(text.without(spans, *clause)) or _speaks_of_other_deed(tool, text, left):
        return False
    is_thing = any(words.determined.search(text.text[: one[0]]) for one in left) or (size > 1 and not words.is_spaced)
    if is_thing and _takes_anything(tool, stated):
        return False
    if any(_speaks_of_parameter(tool, stated, text.text[start:end]) for start, end in left):
        return False
    days = [Span(one.start, one.end) for one in text.moments]
    free = [
        span for leaf, reading in stated for span in reading.spans
        if isinstance(leaf.value, str) and kind_of(leaf.schema) != "enum" and not touches(days, *span)
    ]  # fmt: skip
    return not any(
        _is_named(text, *one)
        or _is_counted(text, *one)
        or _is_listed(text, spans, *one)
        or _is_beside(text, free, *one)
        for one in left
    )


def _is_narrated(
    tool: Tool, text: RequestText, stated: Sequence[tuple[ArgumentLeaf, ArgumentReading]], word: tuple[int, int]
) -> bool:
    """Whether a word says what somebody does or what something is, in passing: "it blew up", "is nearly empty"."""
    words, quote = plain_words(text.language), text.text[slice(*word)]
    return (
        words.narrating.search(text.text[: word[0]]) is not None and quote.islower() and not words.decisive.search(quote)
        and not _is_counted(text, *word) and not _speaks_of_other_deed(tool, text, [word])
        and not _speaks_of_parameter(tool, stated, quote)
    )  # fmt: skip


def _takes_anything(tool: Tool, stated: Sequence[tuple[ArgumentLeaf, ArgumentReading]]) -> bool:
    """Whether the tool has a parameter for any text that the call leaves empty."""
    arguments = {leaf.argument for leaf, _ in stated}
    return any(
        name not in arguments and schema.get("type") in _LOOSE and not schema.get("enum") and not schema.get("format")
        for name, schema in tool.properties.items()
    )


def _speaks_of_parameter(tool: Tool, stated: Sequence[tuple[ArgumentLeaf, ArgumentReading]], word: str) -> bool:
    """Whether a parameter that the call leaves empty is named or described by this word, or has it among its choices."""
    filled = {leaf.argument for leaf, _ in stated}
    keys = {key.deep for key in content_keys(word)}
    return any(
        bool(keys & naming_words(name, f"{schema.get('description', '')} {' '.join(map(str, choices_of(schema)))}"))
        for name, schema in tool.properties.items()
        if name not in filled
    )


def _speaks_of_other_deed(tool: Tool, text: RequestText, left: Sequence[tuple[int, int]]) -> bool:
    deeds = deeds_of_tool(tool.name, text.language)
    return any(
        deed not in deeds and start < last and first < end
        for deed, start, end in deeds_stated(text.text, text.language)
        for first, last in left
    )


def _is_named(text: RequestText, start: int, end: int) -> bool:
    """Whether a word is written like a name or a code."""
    word = text.text[start:end]
    if word[:1].isascii() and len(word) < _SHORTEST:
        return True
    beside = text.text[max(0, start - 1) : start] + text.text[end : end + 1]
    if any(character.isascii() and (character.isalnum() or character in "_@#/") for character in beside):
        return True
    is_first = re.search(r"(?:^|[.!?…\n:])[\s\"'¿¡(]*$", text.text[:start]) is not None
    is_narrated = plain_words(text.language).telling.match(text.text, end) is not None
    return word[1:] != word[1:].lower() or (word[:1].isupper() and (is_narrated or not is_first))


def _is_counted(text: RequestText, start: int, end: int) -> bool:
    """Whether a number stands before a word, which is then its unit or what it counts."""
    before = text.text[:start].rstrip(" -")
    return start - len(before) <= 1 and any(
        one.number_end == len(before) or one.end == len(before) for one in text.quantities
    )


def _is_listed(text: RequestText, spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether a word is joined to a value as a member of the same list."""
    joined = plain_words(text.language).listing
    return any(joined.fullmatch(text.text[span.end : start]) is not None for span in spans if span.end <= start) or any(
        joined.fullmatch(text.text[end : span.start]) is not None for span in spans if end <= span.start
    )


def _is_beside(text: RequestText, free: Sequence[Span], start: int, end: int) -> bool:
    """Whether a word touches a text that is a value, and so may belong to it."""
    qualifying = plain_words(text.language).qualifying
    gaps = [text.text[span.end : start] for span in free if span.end <= start]
    gaps += [text.text[end : span.start] for span in free if end <= span.start]
    return any(_GAP.fullmatch(gap) is not None or qualifying.fullmatch(gap) is not None for gap in gaps)
