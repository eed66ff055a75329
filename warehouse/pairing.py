"""Which values a text puts together, read from the order in which it mentions them.

People write a value after its thing ("tyres: finished, chain: finished"), before it ("finished:
tyres, chain"), or one list after the other ("tyres and chain are finished and waiting"). Each
stretch of a text is read in all these ways; a reading counts if it leaves no thing without a value
and no value without a thing.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from callwright.warehouse.said import Form, Level, ReadText

Pair = tuple[Form, Form]
_JUDGED: tuple[Level, ...] = ("part", "sentence", "line")
_LEVELS: tuple[Level, ...] = (*_JUDGED, "paragraph", "text")
Pairing = Literal["told", "untold", "wrong"]


class Entered(NamedTuple):
    """A mention in one of two columns, at a token of the text."""

    form: Form
    is_first: bool
    at: int
    column: str = ""


def read_pairs(
    said: ReadText, entered: Sequence[Entered], due: Collection[Pair], allowed: Collection[Pair]
) -> Pairing:
    """Return whether a text tells the pairs that are due, and none but those allowed.

    It is "wrong" if a stretch of it tells another pair, however it is read.
    """
    told, is_wrong = set[Pair](), False
    for level in _LEVELS:
        stretches = _stretches(said, entered, level)
        for has_first in (True, False):
            found = _told_in(stretches, allowed, has_first=has_first)
            told |= found or set()
        is_wrong |= level in _JUDGED and any(_is_wrong(some, allowed) for some in stretches)
    if told.issuperset(due):
        return "told"
    return "wrong" if is_wrong else "untold"


def _stretches(said: ReadText, entered: Sequence[Entered], level: Level) -> list[list[Entered]]:
    by_place = groupby(entered, lambda one: said.places[one.at][level])
    return [[*stretch] for _, stretch in by_place]


def _told_in(
    stretches: Iterable[Sequence[Entered]], allowed: Collection[Pair], *, has_first: bool
) -> set[Pair] | None:
    """Return the pairs told with things in one column; None if some stretch tells others."""
    told = set[Pair]()
    for stretch in stretches:
        readings = [*_readings(stretch, has_first=has_first)]
        right = [one for one in readings if one.issubset(allowed)]
        if readings and not right:
            return None
        told |= max(right, key=len, default=set())
    return told


def _is_wrong(stretch: Sequence[Entered], allowed: Collection[Pair]) -> bool:
    readings = [
        one for has_first in (True, False) for one in _readings(stretch, has_first=has_first)
    ]
    return bool(readings) and not any(one.issubset(allowed) for one in readings)


def _readings(stretch: Sequence[Entered], *, has_first: bool) -> Iterator[set[Pair]]:
    """Yield the complete readings of a stretch whose things are in the first column, or not."""
    things = [at for at, one in enumerate(stretch) if one.is_first == has_first]
    values = [at for at, one in enumerate(stretch) if one.is_first != has_first]
    if not things or not values:
        return
    each = [_each_before(things, values), _each_after(things, values)]
    if len(things) == len(values) > 1 and (things[-1] < values[0] or values[-1] < things[0]):
        each.append([*zip(things, values, strict=True)])
    for one in each:
        if {thing for thing, _ in one} == {*things}:
            pairs = {(stretch[thing].form, stretch[value].form) for thing, value in one}
            yield pairs if has_first else {(value, thing) for thing, value in pairs}


def _each_before(things: Sequence[int], values: Sequence[int]) -> list[tuple[int, int]]:
    """Pair each thing with the first value after it, and further values with the thing before."""
    found = [(thing, min(after)) for thing in things if (after := [v for v in values if v > thing])]
    return [*found, *_left_over(found, things, values)]


def _each_after(things: Sequence[int], values: Sequence[int]) -> list[tuple[int, int]]:
    """Pair each thing with the last value before it, and further values with the thing before."""
    found = [(thing, max(past)) for thing in things if (past := [v for v in values if v < thing])]
    return [*found, *_left_over(found, things, values)]


def _left_over(
    found: Sequence[tuple[int, int]], things: Sequence[int], values: Sequence[int]
) -> Iterator[tuple[int, int]]:
    taken = {value for _, value in found}
    for value in values:
        if value not in taken:
            yield max((thing for thing in things if thing < value), default=things[0]), value
