"""Quantities that a text mentions, with unit and bound: none of them part of a date or a time of day.

Numbers are read by the languages' own rules and by Duckling; units and the words around a quantity stand in each
language's quantities.yaml.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from language.duckling_reader import read
from language.mentions import UNKNOWN_NOW, find_moments
from language.numbers import find_numbers
from language.text import folded
from language.units import QuantityWords, Unit, quantity_words, unit_named

Bound = Literal["", "most", "least"]
_BEFORE, _AFTER = 60, 22  # characters around a quantity in which words qualify it
_DOZEN = 12
_CLAUSE_END = re.compile(r"[.;!?,]")


class Quantity(NamedTuple):
    """A number that a text mentions, in the unit said, None where it says none.

    `number_end` is where the number ends and its unit begins. `bound` tells whether it is the most or the least that is
    wanted; `is_estimate`, that it is not meant exactly; `place` is 1 for the first and 2 for the last of a range, else 0.
    """

    value: float
    unit: Unit | None
    start: int
    end: int
    number_end: int
    bound: Bound = ""
    is_estimate: bool = False
    place: int = 0


@lru_cache(4096)
def find_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """The quantities in `text`, none of them part of a date or a time of day."""
    words = quantity_words(language)
    plain = folded(text).text
    if len(plain) != len(text):  # a character that unfolds to several: offsets would not be the text's
        plain = text.lower()
    found = [*_unit_shares(plain, words), *_numbers(text, plain, words, language)]
    kept: list[Quantity] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(_qualified(plain, words, _ranged(plain, words, kept)))


def _unit_shares(text: str, words: QuantityWords) -> Iterator[Quantity]:
    """Half an hour, an hour, an hour and a half."""
    for match in words.patterns["half_of"].finditer(text):
        unit = unit_named(match[2], words)
        if unit is not None:
            yield Quantity(words.shares[match[1]], unit, *match.span(), match.end(1))
    for match in words.patterns["one_of"].finditer(text):
        unit = unit_named(match[1], words)
        if unit is not None:
            more = 0.5 if words.patterns["and_a_half"].search(match.group()) else 0.0
            yield Quantity(1 + more, unit, *match.span(), match.start(1))


def _numbers(text: str, plain: str, words: QuantityWords, language: str) -> Iterator[Quantity]:
    idle = [match.span() for match in words.patterns["idle_number"].finditer(plain)]
    taken = [(one.start, one.end) for one in find_moments(text, language, UNKNOWN_NOW)]
    for start, end, number in _bare_numbers(text, language):
        if any(first <= start and end <= last for first, last in idle):
            continue
        if any(first <= start and end <= last and last - first > end - start for first, last in taken):
            continue
        yield _measured(plain, words, start, end, _scaled(plain, words, start, end, number))


def _bare_numbers(text: str, language: str) -> list[tuple[int, int, float]]:
    spans = [(found.start, found.end, float(str(found.value))) for found in find_numbers(text)]
    for one in read(text, language, UNKNOWN_NOW):
        if one.dimension == "number" and not any(start < one.end and one.start < end for start, end, _ in spans):
            spans.append((one.start, one.end, float(one.value["value"])))
    return sorted(spans)


def _scaled(text: str, words: QuantityWords, start: int, end: int, number: float) -> float:
    """The number with what the words beside it make of it: half a million, a baker's dozen."""
    if number == _DOZEN and words.patterns["long_dozen"].search(text[max(0, start - 10) : end + 8]):
        return number + 1
    return number / 2 if words.patterns["half_before"].search(text[:start]) else number


def _measured(text: str, words: QuantityWords, start: int, end: int, number: float) -> Quantity:
    more = words.patterns["half_unit"].match(text, end)
    unit, last = _unit_after(text, more.end() if more else end, words)
    if more and unit is not None:
        return Quantity(number + 0.5, unit, start, last, more.end())
    if more:
        unit, last = _unit_after(text, end, words)
    half = words.patterns["and_a_half"].match(text, last) if unit is not None else None
    if half:
        return Quantity(number + 0.5, unit, start, half.end(), end)
    return Quantity(number, unit, start, last, end)


def _unit_after(text: str, at: int, words: QuantityWords) -> tuple[Unit | None, int]:
    best: tuple[Unit | None, int] = (None, at)
    for pattern, unit in words.units:
        match = pattern.match(text, at)
        if match and match.end() > best[1]:
            best = unit, match.end()
    return best


def _ranged(text: str, words: QuantityWords, found: Sequence[Quantity]) -> list[Quantity]:
    """Mark the ends of ranges; the first takes unit and scale of the last where it has none: "50 to 90 thousand euros"."""
    marked = list(found)
    scale = words.patterns["scale"]
    for index in range(len(found) - 1):
        one, other = marked[index], marked[index + 1]
        if not words.patterns["between"].fullmatch(text[one.end : other.start]):
            continue
        if one.unit is not None and one.unit != other.unit:
            continue
        word = scale.search(text[other.start : other.number_end])
        share = words.scales[word.group()] if word and not scale.search(text[one.start : one.number_end]) else 1
        value = one.value * share if one.value < share else one.value
        marked[index] = one._replace(value=value, unit=other.unit, place=1)
        marked[index + 1] = other._replace(place=2)
    return marked


def _qualified(text: str, words: QuantityWords, found: Sequence[Quantity]) -> Iterator[Quantity]:
    for index, one in enumerate(found):
        first = max(found[index - 1].end if index else 0, one.start - _BEFORE)
        last = found[index + 1].start if index + 1 < len(found) else len(text)
        before = _CLAUSE_END.split(text[first : one.start])[-1]
        after = _CLAUSE_END.split(text[one.end : last])[0]
        after = after if len(after) < _AFTER else ""
        is_estimate = words.patterns["about_before"].search(before[-18:]) or words.patterns["about_after"].search(after)
        yield one._replace(bound=_bound(words, before, after), is_estimate=bool(is_estimate))


def _bound(words: QuantityWords, before: str, after: str) -> Bound:
    for side in (before, after):
        least, most = words.patterns["least"].search(side), words.patterns["most"].search(side)
        cue = most if most and not (least and least.start() < most.start()) else least
        if cue:
            is_flipped = bool(words.patterns["flips"].search(side[: cue.start()]))
            return "most" if (cue is most) != is_flipped else "least"
    return ""
