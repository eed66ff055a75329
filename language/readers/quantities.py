"""Quantities that a text mentions, with unit and bound: none of them part of a date or a time of day.

Numbers are read by the languages' own rules and by Duckling; units and the words around a quantity stand in each
language's quantities.yaml.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple
from unicodedata import numeric

from callwright.language.numbers import BEYOND, PERCENT, find_numbers, is_ordinal
from callwright.language.packs import of
from callwright.language.readers.duckling_reader import read
from callwright.language.readers.mentions import UNKNOWN_NOW, find_moments
from callwright.language.readers.units import QuantityWords, Unit, quantity_words, unit_at, unit_named
from callwright.language.text import Spans, folded

Bound = Literal["", "most", "least"]
_BEFORE, _AFTER = 60, 22  # characters around a quantity in which words qualify it
_DOZEN = 12
_THOUSAND, _WHOLE, _SIXTY, _TEN = 1000, 100, 60, 10
_FOOT = 0.3048  # metres
_TAILED = frozenset({"money", "mass", "distance", "degree", "celsius"})  # what tenths are said of without a word
_PERCENT, _COIN = Unit("percent", 1), Unit("money", 1)
_NUMBERED = re.compile(r"#(\d+)\b")
_OVER = re.compile(r"(?<![\d/.])((?:3[2-9]|[4-9]\d|[12]\d\d))/(\d{2,3})(?![\d/]|\.\d)")  # no date: 118/76
_NEXT_WORD = re.compile(r" ([^\W\d_]+)")
_CLAUSE_END = re.compile(r"[.;!?,]")


class Quantity(NamedTuple):
    """A number that a text mentions, in the unit said, None where it says none.

    `number_end` is where the number ends and its unit begins. `bound` tells whether it is the most or the least that is
    wanted; `is_estimate`, that it is not meant exactly; `place` is 1 for the first and 2 for the last of a range, else 0.
    `is_loose`: the words of the bound need not be one: "over", "up to".
    """

    value: float
    unit: Unit | None
    start: int
    end: int
    number_end: int
    bound: Bound = ""
    is_estimate: bool = False
    place: int = 0
    is_loose: bool = False


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
    return tuple(_qualified(plain, words, _ranged(plain, words, _compounded(plain, words, kept))))


def _unit_shares(text: str, words: QuantityWords) -> Iterator[Quantity]:
    """Half an hour, an hour, an hour and a half."""
    for match in words.patterns["half_of"].finditer(text):
        if unit := unit_named(match[2], words):
            yield Quantity(words.shares[match[1].replace("-", " ")], unit, *match.span(), match.end(1))
    for match in words.patterns["one_of"].finditer(text):
        if unit := unit_named(match[1], words):
            part = words.patterns["half_unit"].search(match.group())
            more = words.shares[" ".join(part[1].split())] if part else 0.0
            yield Quantity(1 + more, unit, *match.span(), match.start(1))
    for match in words.patterns["share_alone"].finditer(text):
        yield Quantity(words.shares[match[1]] * _WHOLE, _PERCENT, *match.span(1), match.end(1))


def _numbers(text: str, plain: str, words: QuantityWords, language: str) -> Iterator[Quantity]:
    idle = [match.span() for match in words.patterns["idle_number"].finditer(plain)]
    taken = [
        (one.start, one.end) for one in find_moments(text, language, UNKNOWN_NOW)
        if not words.patterns["elapse"].search(plain[one.start : one.end]) and not _ranks(plain, one.start, one.end, language)
    ]  # fmt: skip
    shares = {one.start for one in find_numbers(text) if one.rule == PERCENT}  # their sign is a part of the number
    for start, end, bare in _bare_numbers(text, plain, words, language):
        number = bare
        within = [one for one in idle if one[0] <= start and end <= one[1]]
        within += [one for one in taken if one[0] <= start and end <= one[1] and one[1] - one[0] > end - start]
        if within:
            continue
        half = words.patterns["half_before"].search(plain[max(0, start - _BEFORE) : start])
        if number == _DOZEN and words.patterns["long_dozen"].search(plain[max(0, start - 10) : end + 8]):
            number += 1  # a baker's dozen
        elif half:
            number /= 2
        one = _measured(plain, words, start, end, number)
        one = one._replace(unit=_PERCENT) if start in shares and one.unit is None else one
        yield one._replace(start=half.start()) if half else one


def _ranks(text: str, start: int, end: int, language: str) -> bool:
    """Whether what may be a day says which of several as well, as the word behind it has a content: the 4th floor."""
    little, noun = of(language).words.get("empty", frozenset()), _NEXT_WORD.match(text, end)
    words = [one for one in text[start:end].split() if one not in little]
    return len(words) == 1 and is_ordinal(text[start:end]) and noun is not None and noun[1] not in little


def _bare_numbers(text: str, plain: str, words: QuantityWords, language: str) -> list[tuple[int, int, float]]:
    spans = [(*match.span(), float(words.counts[match.group()])) for match in words.patterns["count"].finditer(plain)]
    spans += [(match.start(), match.end(), float(match[1])) for match in _NUMBERED.finditer(plain)]
    spans += [(*match.span(side), float(match[side])) for match in _OVER.finditer(plain) for side in (1, 2)]
    spans += [
        (*match.span(), float(f"{match['whole'].replace('.', '')}.{match['part'] or 0}"))
        for match in words.patterns["digits_written"].finditer(plain)
    ]
    spans += [
        (*match.span(), (int(match["whole"]) + numeric(match["tail"]) / _TEN) * words.scales[match["scale"]])
        for match in words.patterns["scaled_tail"].finditer(plain)
    ]
    spans = [one for one in spans if one[2] < BEYOND]
    known, respelled = Spans((start, end) for start, end, _ in spans), text
    for pattern, spelling in words.unit_spellings.items():
        respelled = re.sub(pattern, spelling, respelled)
    for found in find_numbers(respelled):
        if not known.overlaps(found.start, found.end):
            known.add(found.start, found.end)
            spans.append((found.start, found.end, float(str(found.value))))
    for one in read(text, language, UNKNOWN_NOW):
        if one.dimension == "number" and not known.overlaps(one.start, one.end):
            known.add(one.start, one.end)
            spans.append((one.start, one.end, float(one.value["value"])))
    return sorted(_joined(plain, words, sorted(spans)))


def _joined(text: str, words: QuantityWords, rest: list[tuple[int, int, float]]) -> Iterator[tuple[int, int, float]]:
    """A hundred that goes without saying: "one thirty-five" is 135."""
    left = deque(rest)
    while left:
        start, end, number = left.popleft()
        following = left[0] if left else None
        if (
            following and number in range(1, 10) and following[2] in range(10, 100)
            and text[end : following[0]] in (" ", "-") and text[start:end].isalpha()
            and not text[following[0] : following[1]].isdecimal() and words.patterns["number_end"].match(text, following[1])
        ):  # fmt: skip
            left.popleft()
            yield start, following[1], number * _WHOLE + following[2]
        else:
            yield start, end, number


def _measured(text: str, words: QuantityWords, start: int, end: int, number: float) -> Quantity:
    scale = words.patterns["scale_after"].match(text, end)
    if scale:
        number, end = number * words.scales[scale[1]], scale.end()
    more = words.patterns["half_unit"].match(text, end)
    if more:
        by = _DOZEN if words.patterns["dozen"].search(text[start:end]) else 1  # a dozen and a half
        number, end = number + words.shares[more[1]] * by, more.end()
        scale = words.patterns["scale_after"].match(text, end)
        number, end = (number * words.scales[scale[1]], scale.end()) if scale else (number, end)
    filler = words.patterns["unit_filler"].match(text, end) if "unit_filler" in words.patterns else None
    unit, last = unit_at(text, filler.end() if filler else end, words)
    last = last if unit is not None else end
    tail = words.patterns["tail"].match(text, last) if unit and unit.dimension in _TAILED else None
    if tail and not more:
        number += sum(numeric(digit) / _TEN ** (at + 1) for at, digit in enumerate(tail[1]))
        return Quantity(round(number, 6), unit, start, tail.end(), tail.end())
    if more:
        return Quantity(number, unit, start, max(last, end), end)
    if unit is None and words.patterns["money_before"].search(text[max(0, start - _BEFORE) : start]):
        unit = _COIN
    half = words.patterns["and_a_half"].match(text, last) if unit is not None else None
    if half:
        return Quantity(number + words.shares.get(half[1], 0.5), unit, start, half.end(), end)
    return Quantity(number, unit, start, last, end)


def _compounded(text: str, words: QuantityWords, found: Sequence[Quantity]) -> list[Quantity]:
    """Join what is one quantity in two units: an hour and fifty minutes, 72 euros 90, three pounds six ounces."""
    kept: list[Quantity] = []
    for one in found:
        more = _part_of(kept[-1], one, text, words) if kept else None
        if more is not None:
            kept[-1] = kept[-1]._replace(value=kept[-1].value + more, end=one.end)
        else:
            kept.append(one)
    return kept


def _part_of(whole: Quantity, part: Quantity, text: str, words: QuantityWords) -> float | None:
    """What `part` adds to `whole`, in its unit; None where it stands for itself."""
    gap = text[whole.end : part.start]
    if whole.unit is None or not words.patterns["compound"].fullmatch(gap):
        return None
    if part.unit is not None:
        is_finer = part.unit.dimension == whole.unit.dimension and part.unit.factor < whole.unit.factor
        share = part.value * part.unit.factor / whole.unit.factor
        return share if is_finer and share < 1 and float(whole.value).is_integer() else None
    if (
        not words.patterns["bare_compound"].fullmatch(gap)
        or not words.patterns["number_end"].match(text, part.end)
        or not float(part.value).is_integer()
    ):
        return None
    if whole.unit.dimension == "money" and 0 < part.value < _WHOLE:
        is_tenth = part.value < _TEN and numeric(text[part.start], 1) != 0
        return part.value / (_TEN if is_tenth else _WHOLE)
    if whole.unit.dimension == "mass" and whole.unit.factor == _THOUSAND and _WHOLE <= part.value < _THOUSAND:
        return part.value / _THOUSAND  # 2 kilos 300
    if whole.unit.dimension == "distance":  # six foot three
        if whole.unit.factor == 1 and _TEN <= part.value < _WHOLE:  # one metre seventy-four
            return part.value / _WHOLE
        return part.value / _DOZEN if 0 < part.value < _DOZEN and round(whole.unit.factor, 4) == _FOOT else None
    is_clock = whole.unit.dimension == "duration" and whole.unit.factor in (_SIXTY, _SIXTY * _SIXTY)
    return part.value / _SIXTY if is_clock and 0 < part.value < _SIXTY else None


def _ranged(text: str, words: QuantityWords, found: Sequence[Quantity]) -> list[Quantity]:
    """Mark the ends of ranges; the first takes unit and scale of the last where it has none: "50 to 90 thousand euros"."""
    marked = list(found)
    scale = words.patterns["scale"]
    for index in range(len(found) - 1):
        one, other = marked[index], marked[index + 1]
        gap = text[one.end : other.start]
        is_range = words.patterns["between"].fullmatch(gap)
        if words.patterns["joins"].fullmatch(gap.strip()) and not words.patterns["opens_range"].search(
            text[: one.start]
        ):
            continue  # 1.68 and 61 kilos
        if not is_range or (one.unit is not None and one.unit != other.unit):
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
        after = _CLAUSE_END.split(text[one.end : last])[0][:_AFTER]
        is_estimate = words.patterns["about_before"].search(before[-18:]) or words.patterns["about_after"].search(after)
        bound, cue = _bound(words, before, after)
        if bound and words.patterns["flips_after"].search(after):
            bound = "least" if bound == "most" else "most"
        is_loose = bool(cue and words.patterns["loose_bound"].fullmatch(cue))
        yield one._replace(bound=bound, is_estimate=bool(is_estimate), is_loose=is_loose)


def _bound(words: QuantityWords, before: str, after: str) -> tuple[Bound, str]:
    """The bound that the words around a number make it, and which words."""
    for side in (before, after):
        least, most = words.patterns["least"].search(side), words.patterns["most"].search(side)
        cue = most if most and not (least and least.start() < most.start()) else least
        is_loose = cue is not None and words.patterns["loose_bound"].fullmatch(cue.group()) is not None
        is_next = cue is not None and side is before and not side[cue.end() :].strip()
        if cue and (is_next or not is_loose):
            is_flipped = bool(words.patterns["flips"].search(side[: cue.start()]))
            return ("most" if (cue is most) != is_flipped else "least"), cue.group()
    return "", ""
