"""Turns of phrase that no argument accounts for: a negation, an alternative, a condition, a correction, a second wish, a past deed.

A cue stands in a text for a reason of its own where a value holds it, where it words the tool's deed, or where it only tells why.
"""

import re
from collections.abc import Iterator, Sequence

from callwright.language.cues import Cue, Deed, cue_words, deeds_of_tool, deeds_stated, find_cues
from callwright.language.names import split_name
from callwright.language.plain_words import clauses_of, is_context
from callwright.validators.checks.verdicts import Finding, belongs_to_nothing
from callwright.validators.readings.leftover_words import described
from callwright.validators.readings.omissions import accounted_for
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    spans_of,
    touches,
)
from callwright.validators.readings.taken_back import taken_back_in
from callwright.warehouse.records import DEFAULT_LANGUAGE, Tool

_CLOSE, _NEAR = 12, 25  # characters between a cue and the values around it, and words of a bound
_AHEAD = 40  # characters from what takes a value back to the one that holds
_NEXT = 1  # character between a correction and what holds
_LEFT_OUT = re.compile("exclude[ds]?|without|avoid|except|allerg(?:y|ies|ens?)|skip|omit")


def cues_left(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """The turns of phrase that may change what is wanted, and that neither a value nor the tool's deed accounts for."""
    deeds = deeds_of_tool(tool.name, text.language)
    spans = spans_of(readings)
    free = [span for leaf, reading in zip(leaves, readings, strict=True) if leaf.is_free_text for span in reading.spans]
    taken_back = taken_back_in(text, spans)
    known = accounted_for(text, leaves, readings)
    for cue in find_cues(text.text, text.language):
        if (
            cue.start < text.own
            and not _is_accounted(text, cue, spans, free, taken_back)
            and not _is_the_deed(text, cue, deeds)
            and not (cue.kind == "condition" and _watches(tool, text.language))
            and not _is_left_out(text, cue, leaves, readings)
            and not (cue.kind == "negation" and _gives_reason(text, cue, known, deeds))
            and not (cue.kind == "second_wish" and _is_own_deed_again(tool, text, cue, spans))
            and not (cue.kind == "condition" and "ask" in deeds and text.has_cue("supposed_question"))
        ):
            yield belongs_to_nothing(text.text[cue.start : cue.end].strip(), f" ({cue.kind.replace('_', ' ')})")


def _is_accounted(
    text: RequestText, cue: Cue, spans: Sequence[Span], free: Sequence[Span], taken_back: Sequence[Span]
) -> bool:
    takes_away = cue.kind == "negation" and any(cue.start < one.start and one.end < cue.end for one in spans)
    if takes_away:  # "leave Carl out"
        return False
    ends = cue.start + 1 if cue.kind == "past" else cue.end  # what is told of may hold the values
    if touches(free if cue.kind == "alternative" else spans, cue.start, ends):
        return True
    if cue.kind == "negation" and _words_bound(text, cue):
        return True
    if text.is_shifted and _wants_again(text, cue):
        return True
    if cue.kind == "second_wish" and any(0 <= one.start - cue.end <= _CLOSE for one in spans):
        return True  # "and tell Ann": what is to be done is done with a value of the call
    if cue.kind in ("correction", "negation") and _is_of_correction(text, cue, spans, taken_back):
        return True
    if cue.kind == "past":  # the words that point to a message tell who sent it
        return text.own < len(text.text) or _wishes_elsewhere(text, spans, cue)
    return cue.kind == "alternative" and _joins_values(text, spans, cue)


def _words_bound(text: RequestText, cue: Cue) -> bool:
    """Whether a negation stands beside an amount, in its clause, of which it makes a bound: "not a penny above 30"."""
    clause = next((one for one in clauses_of(text.text, text.language) if one.start <= cue.start < one.end), None)
    return clause is not None and any(
        one.bound and clause.start <= one.start < clause.end and one.start - _NEAR <= cue.start <= one.end + _CLOSE
        for one in text.quantities
    )


def _is_of_correction(text: RequestText, cue: Cue, spans: Sequence[Span], taken_back: Sequence[Span]) -> bool:
    """Whether a cue takes back what the call does not have, or what it is changed to is the call's."""
    if cue.kind == "negation" and text.has_cue("excluding", cue.start, cue.end) and _is_before(text, cue, spans):
        return False  # "no, anything but Rome"
    if any(one.start <= cue.start < one.end for one in taken_back):
        return True
    if cue.kind == "negation" and _is_before(text, cue, spans):
        return False  # "anything but ZB2038": the value itself is denied
    ahead = [*spans, *text.replaced] if cue.kind == "correction" else text.replaced
    if text.is_shifted and any(0 <= one.start - cue.start <= _AHEAD for one in ahead):
        return True
    return cue.kind == "correction" and any(0 <= one.start - cue.end <= _NEXT for one in spans)


def _is_before(text: RequestText, cue: Cue, spans: Sequence[Span]) -> bool:
    """Whether a cue stands right before a value."""
    return any(0 <= one.start - cue.end <= _CLOSE and _is_joined(text, cue, one) for one in spans)


def _is_joined(text: RequestText, cue: Cue, span: Span) -> bool:
    """Whether nothing but small words stands between a cue and a value."""
    return not re.search(r"[^\w\s\"“«'’]|\d", text.text[cue.end : span.start])


def _wants_again(text: RequestText, cue: Cue) -> bool:
    """Whether a cue of a later turn asks for the same with another value: "and what if it is at nine?", "and also"."""
    if cue.kind in ("condition", "hypothetical"):
        return bool(text.question) and cue.start < _CLOSE
    is_later = bool(text.question)  # in the first turn there is nothing yet that may be wanted again
    return (
        is_later
        and cue.kind == "second_wish"
        and text.has_cue("once_more", max(0, cue.start - _CLOSE), cue.end + _CLOSE)
    )


def _joins_values(text: RequestText, spans: Sequence[Span], cue: Cue) -> bool:
    """Whether both sides of an "or" are values of the call, and no days of which one is to be chosen."""
    left = [span for span in spans if 0 <= cue.start - span.end <= 1]
    right = [span for span in spans if 0 <= span.start - cue.end <= 1]
    days = [Span(one.start, one.end) for one in text.moments]
    return bool(left and right) and not any(touches(days, *side[0]) for side in (left, right))


def _is_the_deed(text: RequestText, cue: Cue, deeds: frozenset[Deed]) -> bool:
    """Whether a negation words the very deed of a tool that ends something: "don't let them ring me any more"."""
    ends = cue.kind == "negation" and bool(deeds & {"off", "cancel"})
    return ends and text.has_cue("no_more", cue.start, cue.end + _NEAR)


def _watches(tool: Tool, language: str) -> bool:
    """Whether the tool waits for something, so that a condition is its very business: an alert, a reminder."""
    patterns = (cue_words(one).patterns["watching"] for one in (language, DEFAULT_LANGUAGE))
    return any(pattern.search(described(tool)) for pattern in patterns)


def _is_left_out(
    text: RequestText, cue: Cue, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> bool:
    """Whether a negation stands before a value of a parameter for what shall be left out: "without coriander"."""
    left_out = [
        span
        for leaf, reading in zip(leaves, readings, strict=True)
        if leaf.is_named(_LEFT_OUT)
        for span in reading.spans
    ]
    return cue.kind == "negation" and any(0 <= span.start - cue.end <= _CLOSE for span in left_out)


def _gives_reason(text: RequestText, cue: Cue, known: Sequence[Span], deeds: frozenset[Deed]) -> bool:
    """Whether a negation stands in a clause that only tells why: of no value, no amount, no day and no deed of the tool."""
    if text.has_cue("excluding", cue.start, cue.end):  # "it is anything but Rome"
        return False
    clause = next((one for one in clauses_of(text.text, text.language) if one.start <= cue.start < one.end), None)
    if clause and text.has_cue("factual", cue.start, clause.end) and text.tells_why(clause, known):
        return not any(deed in deeds for deed, *_ in deeds_stated(text.text[clause.start : clause.end], text.language))
    if clause is None or not is_context(text.text[clause.start : clause.end], text.language):
        return False
    if touches(known, *clause) or touches(text.mentions, *clause) or text.has_cue("resolve", *clause):
        return False
    if any(deed in deeds for deed, *_ in deeds_stated(text.text[clause.start : clause.end], text.language)):
        return False
    return _wishes_elsewhere(text, known, cue)


def _is_own_deed_again(tool: Tool, text: RequestText, cue: Cue, spans: Sequence[Span]) -> bool:
    """Whether "and play" words the deed of the tool itself, or a value stands right before "while you're at it"."""
    last = text.text[cue.start : cue.end].split(" ")[-1].lower()
    is_aside = text.has_cue("aside", cue.start, cue.end) and any(0 <= cue.start - one.end <= 1 for one in spans)
    return is_aside or last in split_name(tool.name.rsplit(".", 1)[-1])


def _wishes_elsewhere(text: RequestText, spans: Sequence[Span], cue: Cue) -> bool:
    """Whether another clause than the one that tells of the past wishes something: "I bought it in May. Register it"."""
    return any(
        not clause.start <= cue.start < clause.end
        and not is_context(text.text[clause.start : clause.end], text.language)
        and (touches(spans, *clause) or any(deeds_stated(text.text[clause.start : clause.end], text.language)))
        for clause in clauses_of(text.text[: text.own], text.language)
    )
