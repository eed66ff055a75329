"""Whether two values of a call may have changed places: a time for a name, a text for a code, the upper for the lower number."""

import re
from collections.abc import Iterator, Sequence

from callwright.language.cues import cue_words
from callwright.language.packs import of, widened
from callwright.language.plain_words import clauses_of, plain_words
from callwright.language.sentences import quotations
from callwright.language.text import STOP
from callwright.language.wording import content_keys
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    naming_words,
    places_stated,
)
from callwright.validators.readings.value_readings import DAY_CLOCK, is_clock, is_day

_TEMPORAL_NAME = re.compile(
    "date|time|day|when|until|at|start|end|begin|from|to|back|leave|fecha|hora|d[ií]a|evening|morning"
)
_TEMPORAL = re.compile(
    r"\b(?:date|time|day|when|until|yyyy|hh:mm|moment|arrival|departure|check-?(?:in|out)|24-?h)\b|fecha|hora"
)
_OF_DAY, _OF_CLOCK = (
    re.compile(r"\b(?:date|day|yyyy|fecha|d[ií]a)\b"),
    re.compile(r"\b(?:time|clock|hour|hh|hora)\b"),
)
_UPPER, _LOWER = re.compile("systolic|upper|top|numerator"), re.compile("diastolic|lower|bottom|denominator")
_WRITING = re.compile(
    "content|message|msg|comment|notes?|body|review|text|caption|remark|memo|title|subject|statement|reason|feedback|label"
)
_CODE = re.compile("id|ids|key|code|domain|url|link|email|phone|plate|sku|iban|isbn|number|zone|address|ip")
_CODED = re.compile(r"[\d@/._]")
_BESIDE, _NAME_AROUND = 16, 40  # characters
_WORDS_BEFORE = 2
_BREAK = re.compile(widened(r"@[,.;!?{list}]|\band\b"))


def doubt_exchanged(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Doubt values that would suit each other's parameter, and not their own."""
    kept = list(readings)
    stated = places_stated(leaves, readings, text)
    for one, other in ((one, other) for one in stated for other in stated if one != other):
        pair = (leaves[one], leaves[other])
        spans = (readings[one].spans[0], readings[other].spans[0])
        if leaves[one].parent == leaves[other].parent and any(_signs_of_exchange(pair, spans, text)):
            for at in (one, other):
                reason = f"{leaves[at].value!r} may be the value of another parameter than {leaves[at].name!r}."
                kept[at] = kept[at]._replace(grade="unproved", reason=reason)
    return kept


def _signs_of_exchange(
    pair: tuple[ArgumentLeaf, ArgumentLeaf], spans: tuple[Span, Span], text: RequestText
) -> Iterator[bool]:
    one, other = pair
    yield _is_temporal(one) and not _is_temporal(other) and not _asks_moment(one) and _asks_moment(other)
    yield _asks_other_part(one) and _asks_other_part(other)
    yield _is_writing(other) and not _is_writing(one) and _is_quoted(text, spans[0]) and not _is_quoted(text, spans[1])
    yield one.is_named(_CODE) and not other.is_named(_CODE) and _is_uncoded(one) and _is_coded(other)
    yield _is_named_crosswise(pair, spans, text)
    yield one.is_named(_UPPER) and other.is_named(_LOWER) and not _is_above(spans, text)
    yield _stand_under_each_other(pair, spans, text)


def _stand_under_each_other(
    pair: tuple[ArgumentLeaf, ArgumentLeaf], spans: tuple[Span, Span], text: RequestText
) -> bool:
    """Whether each of two values stands beside the name of the other one's parameter."""
    is_alike = isinstance(pair[0].value, str) == isinstance(pair[1].value, str)
    if pair[0].parent or not is_alike or _is_temporal(pair[0]) != _is_temporal(pair[1]):
        return False
    names = [naming_words(leaf.name, leaf.description) for leaf in pair]
    beside = [_words_before(span, text) for span in spans]
    return all(
        beside[at] & (names[1 - at] - names[at]) and not beside[at] & (names[at] - names[1 - at]) for at in (0, 1)
    )


def _words_before(span: Span, text: RequestText) -> set[str]:
    before = _BREAK.split(text.text[max(0, span.start - _NAME_AROUND) : span.start])[-1]
    keys = [key.deep for key in content_keys(before) if key.light != STOP]
    return set(keys if not before.isascii() else keys[-_WORDS_BEFORE:])


def _is_temporal(leaf: ArgumentLeaf) -> bool:
    return (
        is_day(leaf.value)
        or is_clock(leaf.value)
        or (isinstance(leaf.value, str) and bool(DAY_CLOCK.fullmatch(leaf.value)))
    )


def _asks_moment(leaf: ArgumentLeaf) -> bool:
    is_format = str(leaf.schema.get("format", "")).startswith(("date", "time")) or "pattern" in leaf.schema
    return is_format or leaf.is_named(_TEMPORAL_NAME) or bool(_TEMPORAL.search(leaf.description.lower()))


def _asks_other_part(leaf: ArgumentLeaf) -> bool:
    """Whether a day stands where a time of day is asked for, or a time of day where a day is."""
    asked = f"{' '.join(leaf.words)} {leaf.description.lower()}"
    asks_day, asks_clock = bool(_OF_DAY.search(asked)), bool(_OF_CLOCK.search(asked))
    if asks_day == asks_clock:
        return False
    return is_clock(leaf.value) if asks_day else is_day(leaf.value)


def _is_writing(leaf: ArgumentLeaf) -> bool:
    return isinstance(leaf.value, str) and leaf.is_named(_WRITING) and not leaf.is_named(_CODE)


def _is_quoted(text: RequestText, span: Span) -> bool:
    return any(start <= span.start and span.end <= end for start, end in quotations(text.text))


def _is_coded(leaf: ArgumentLeaf) -> bool:
    return isinstance(leaf.value, str) and bool(_CODED.search(leaf.value)) and not _is_temporal(leaf)


def _is_uncoded(leaf: ArgumentLeaf) -> bool:
    return isinstance(leaf.value, str) and not _CODED.search(leaf.value)


def _is_named_crosswise(pair: tuple[ArgumentLeaf, ArgumentLeaf], spans: tuple[Span, Span], text: RequestText) -> bool:
    """Whether one of two times or days stands in a clause that has letters of the other's description alone."""
    if not (all(is_clock(leaf.value) for leaf in pair) or all(is_day(leaf.value) for leaf in pair)):
        return False
    clauses = [next(one for one in clauses_of(text.text, text.language) if span.start < one.end) for span in spans]
    if of(text.language).space or clauses[0] == clauses[1]:
        return False
    plain = plain_words(text.language).words
    letters = [{each for each in leaf.description if each.isalpha() and not each.isascii()} - plain for leaf in pair]
    own = [letters[0] - letters[1], letters[1] - letters[0]]
    words = [set(text.without(spans, *clause)) for clause in clauses]
    is_crossed = [bool(own[1 - at] & words[at]) and not own[at] & words[at] for at in (0, 1)]
    is_straight = [bool(own[at] & words[at]) for at in (0, 1)]
    return any(is_crossed) and not any(is_straight)


def _is_above(spans: tuple[Span, Span], text: RequestText) -> bool:
    """Whether the words put the first number above the second: "128 over 82", "top 128, bottom 82"."""
    upper, lower = spans
    if "above" not in cue_words(text.language).patterns:
        return True
    if upper.start < lower.start and text.has_cue("above", upper.end, lower.start):
        return True
    before = [text.text[max(0, span.start - _BESIDE) : span.start].lower() for span in spans]
    return bool(_UPPER.search(before[0]) or _LOWER.search(before[1])) and not _LOWER.search(before[0])
