"""Which of a call's arguments a request proves, read strictly: with unit, bound, role and time of day.

Grounding accepts what may mean the value; here a value is proved only where the words can mean nothing else. Two
arguments never share their words, an amount in another unit is converted or does not count, a maximum is no minimum, and
where something is to go from here to there, the words say which is which.
"""

from collections.abc import Sequence
from datetime import UTC, timedelta
from math import isclose

from callwright.language.cues import cue_words
from callwright.language.plain_words import clauses_of, is_context
from callwright.language.readers.units import quantity_words, unit_named
from callwright.language.schemas import kind_of
from callwright.validators.readings.exchanged_values import doubt_exchanged
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    Grade,
    RequestText,
    Span,
    proved,
    touches,
)
from callwright.validators.readings.role_readings import read_roles, stamp_of
from callwright.validators.readings.value_readings import read_value
from callwright.warehouse.records import Arguments

_IN = 4  # characters of "in " before a length


def read_leaves(leaves: Sequence[ArgumentLeaf], text: RequestText) -> list[ArgumentReading]:
    """What the request says of each value, seen beside the others."""
    readings = [read_value(leaf, text) for leaf in leaves]
    readings = _with_single(leaves, readings, text)
    readings = _with_derived(leaves, readings, text)
    readings = _with_converted(leaves, readings, text)
    readings = _without_shared(leaves, readings, text)
    readings = _listed_together(leaves, readings, text)
    readings = _beside_own_thing(leaves, readings)
    return doubt_exchanged(leaves, read_roles(leaves, readings, text), text)


def merge_readings(
    arguments: Arguments, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> tuple[ArgumentReading, ...]:
    """One reading for each argument: that of its worst part."""
    order: dict[Grade, int] = {"contradicted": 0, "unproved": 1, "proved": 2}
    merged = []
    for name in arguments:
        parts = [reading for leaf, reading in zip(leaves, readings, strict=True) if leaf.argument == name]
        worst = min(parts, key=lambda part: order[part.grade])
        merged.append(worst._replace(spans=tuple(span for part in parts for span in part.spans)))
    return tuple(merged)


def _with_single(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Prove a quantity of 1 by the article of what it counts: "a pot of green tea"."""
    kept = list(readings)
    single = cue_words(text.language).patterns["single"]
    for index, leaf in enumerate(leaves):
        is_one = leaf.value == 1 and not isinstance(leaf.value, bool)
        if not is_one or not leaf.parent or kept[index].grade == "proved":
            continue
        beside = [
            reading.spans[0] for other, reading in zip(leaves, readings, strict=True)
            if other.parent == leaf.parent and isinstance(other.value, str) and reading.spans
        ]  # fmt: skip
        place = next((match for span in beside if (match := single.search(text.text[: span.start]))), None)
        if place:
            kept[index] = proved(leaf, Span(*place.span()))
    return kept


def _with_derived(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Prove an end by its start and the length that is stated: three nights from Friday."""
    kept = list(readings)
    starts = [
        stamp for leaf, reading in zip(leaves, readings, strict=True)
        if reading.grade == "proved" and reading.spans and (stamp := stamp_of(leaf.value)) is not None
    ]  # fmt: skip
    lengths = [one for one in text.quantities if one.unit and one.unit.dimension == "duration" and not one.is_estimate]
    for index, leaf in enumerate(leaves):
        end = stamp_of(leaf.value)
        if end is None or kept[index].grade == "proved":
            continue
        for one in lengths:
            length = timedelta(seconds=one.value * one.unit.factor) if one.unit else timedelta()
            from_now = quantity_words(text.language).patterns["from_now"].search(text.text[: one.start][-_IN:].lower())
            if any(
                start + length == end
                for start in [*starts, *([text.now.replace(tzinfo=UTC)] if text.now and from_now else [])]
            ):
                kept[index] = proved(leaf, Span(one.start, one.end))
    return kept


def _with_converted(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Prove a unit by an amount in another one that comes to the number beside it: half a litre for 500 of "ml"."""
    kept = list(readings)
    for at, leaf in enumerate(leaves):
        unit = (
            unit_named(str(leaf.value).lower(), quantity_words(text.language)) if kept[at].grade != "proved" else None
        )
        beside = [
            (other.value, reading.spans) for other, reading in zip(leaves, readings, strict=True)
            if other.parent == leaf.parent and isinstance(other.value, int | float) and reading.grade == "proved"
        ]  # fmt: skip
        for one in text.quantities if unit else ():
            if unit and one.unit and one.unit.dimension == unit.dimension != "money" and any(
                isclose(one.value * one.unit.factor, value * unit.factor) and touches(spans, one.start, one.end)
                for value, spans in beside
            ):  # fmt: skip
                kept[at] = proved(leaf, Span(one.number_end, one.end))
    return kept


def _without_shared(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Doubt the narrower of two arguments that have their value from the same words; a day and its time may share them."""
    kept = list(readings)
    for index, other in ((later, earlier) for later in range(len(leaves)) for earlier in range(later)):
        if _may_share(leaves[index], leaves[other]):
            continue
        spans = ((one, two) for one in readings[index].spans for two in readings[other].spans)
        shared = next((one for one, two in spans if one.start < two.end and two.start < one.end), None)
        if shared is None or _is_moment(shared, text) or _is_for_both(leaves[index], leaves[other], shared, text):
            continue
        narrow = index if _width(readings[index]) <= _width(readings[other]) else other
        reason = f"{leaves[narrow].name!r} has its words from another argument."
        kept[narrow] = kept[narrow]._replace(grade="unproved", reason=reason)
    return kept


def _listed_together(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Doubt a member of a list that only a remark names: "add milk and eggs, we still have butter"."""
    kept = list(readings)
    clauses = list(clauses_of(text.text, text.language))
    for at, leaf in enumerate(leaves):
        rest = [
            other.spans[0] for one, other in zip(leaves, readings, strict=True)
            if one is not leaf and one.argument == leaf.argument and one.parent[:-1] == leaf.parent[:-1] != "" and other.spans
        ]  # fmt: skip
        mine = readings[at].spans[:1]
        clause = next((one for one in clauses if mine and one.start <= mine[0].start < one.end), None)
        is_remark = clause and is_context(text.text[clause.start : clause.end], text.language)
        if rest and clause and is_remark and not any(clause.start <= one.start < clause.end for one in rest):
            kept[at] = kept[at]._replace(grade="unproved", reason=f"{leaf.value!r} is only told of.")
    return kept


def _beside_own_thing(leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]) -> list[ArgumentReading]:
    """Doubt a number of one of several things that stands nearer to another of them: "one melon and five peaches"."""
    kept = list(readings)
    things = [
        (leaf, reading.spans[0]) for leaf, reading in zip(leaves, readings, strict=True)
        if leaf.parent and isinstance(leaf.value, str) and reading.spans
    ]  # fmt: skip
    for at, leaf in enumerate(leaves):
        if not leaf.parent or isinstance(leaf.value, bool | str) or not kept[at].spans:
            continue
        number = kept[at].spans[0]
        own = [_gap(number, span) for thing, span in things if thing.parent == leaf.parent]
        others = [
            _gap(number, span) for thing, span in things
            if thing.argument == leaf.argument and thing.parent != leaf.parent
        ]  # fmt: skip
        if own and others and min(others) < min(own):
            reason = f"{leaf.value!r} stands beside another one than its own."
            kept[at] = kept[at]._replace(grade="unproved", reason=reason)
    return kept


def _gap(one: Span, other: Span) -> int:
    """How many characters stand between two stretches."""
    return max(0, other.start - one.end, one.start - other.end)


def _may_share(one: ArgumentLeaf, other: ArgumentLeaf) -> bool:
    if isinstance(one.value, bool) or isinstance(other.value, bool):
        return True
    if one.argument == other.argument and kind_of(one.schema) == kind_of(other.schema) == "enum":
        return True  # "both back doors" are two of a list
    kinds = {kind_of(one.schema) == "enum", kind_of(other.schema) == "enum"}
    texts = [leaf.value for leaf in (one, other) if isinstance(leaf.value, str)]
    if len(texts) == len(kinds) == 2 and texts[0] not in texts[1] and texts[1] not in texts[0]:  # noqa: PLR2004
        return True  # what is told in the one's words decides the other: "ill" why, and which sort of leave
    is_same = one.value == other.value and isinstance(one.value, str)
    return is_same and (one.argument == other.argument or kind_of(one.schema) == "enum")


def _is_for_both(one: ArgumentLeaf, other: ArgumentLeaf, shared: Span, text: RequestText) -> bool:
    """Whether one amount is stated for several: the length, the width and the height all 20."""
    is_alike = one.value == other.value and one.parent == other.parent and isinstance(one.value, int | float)
    return is_alike and bool(quantity_words(text.language).patterns["distributed"].search(text.text[: shared.start]))


def _width(reading: ArgumentReading) -> int:
    return sum(span.end - span.start for span in reading.spans)


def _is_moment(span: Span, text: RequestText) -> bool:
    return any(one.start <= span.start and span.end <= one.end for one in text.moments)
