"""Which gold call each call of a turn is held against: equal ones first, the rest by likeness of their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from validators.metrics.complexeval.assignment import assign
from validators.metrics.complexeval.calls import GoldenCall, call_text, is_equal, sorted_call

if TYPE_CHECKING:
    from validators.metrics.complexeval.free_calls import FreeCalls
    from warehouse.records import Call

Likeness = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
"""How like each of some texts is to each of others: a row a text, a column an other."""

Mapped = Literal["equal", "free", "like"]


class Pair(NamedTuple):
    """A call by its place in the turn, the gold call it is held against, and why."""

    at: int
    golden: GoldenCall
    by: Mapped


def map_calls(
    made: Sequence[tuple[int, Call]], golden: Sequence[GoldenCall], likeness: Likeness, free: FreeCalls
) -> list[Pair]:
    """Pairs in the order of the calls; what is too many on either side is in none. Free calls are marked as made."""
    due, pairs, left = list(golden), [], []
    for at, call in made:
        found = next((index for index, one in enumerate(due) if _are_equal(call, one.call)), None)
        lookup = free.find(sorted_call(call)) if found is None else None
        if found is not None:
            pairs.append(Pair(at, due.pop(found), "equal"))
        elif lookup is not None:
            free.mark(lookup.call)
            pairs.append(Pair(at, lookup, "free"))
        else:
            left.append((at, call))
    for row, column in _assign_left([call for _, call in left], [one.call for one in due], likeness):
        pairs.append(Pair(left[row][0], due[column], "like"))
    return sorted(pairs, key=lambda pair: pair.at)


def _assign_left(made: Sequence[Call], due: Sequence[Call], likeness: Likeness) -> list[tuple[int, int]]:
    if not made or not due:
        return []
    if len(made) == len(due) == 1:
        return [(0, 0)]
    texts = [[call_text(sorted_call(call)) for call in calls] for calls in (made, due)]
    return assign(likeness(texts[0], texts[1]))


def _are_equal(one: Call, other: Call) -> bool:
    return one.tool == other.tool and is_equal(one.arguments, other.arguments)
