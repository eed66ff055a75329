"""Sketches of goals: calls whose arguments are still slots, to be filled once a world is asked."""

from collections.abc import Mapping
from typing import NamedTuple, Union

from pydantic import JsonValue

from warehouse.records import Link
from warehouse.records.paths import ElementKind

Manner = str  # "lookup": found by its name; "inside": an entry called by name; "ranked": chosen among others; "through": the whole


class Say(NamedTuple):
    """A value that the user says; `role` tells which city of the trip it belongs to, equal keys share one value."""

    element: ElementKind
    role: str
    tool: str
    parameter: str
    key: str


class Take(NamedTuple):
    """A value out of the response of another call; `mark` tells apart several entries meant of one response."""

    source: int
    link: Link
    manner: Manner
    mark: int = 0
    later_by: int = 0


class Fixed(NamedTuple):
    """A value that the schema gives."""

    value: JsonValue


class Group(NamedTuple):
    """Several values in one."""

    shape: str
    names: tuple[str, ...]
    parts: "tuple[Slot, ...]"


Slot = Union[Say, Take, Fixed, Group]  # noqa: UP007 - a forward reference in it


class SketchedCall(NamedTuple):
    """A call with slots where its values will be."""

    tool: str
    slots: Mapping[str, Slot]
    wanted: bool


class Sketch(NamedTuple):
    """The calls of a goal, each after those it needs."""

    calls: tuple[SketchedCall, ...]

    @property
    def steps(self) -> int:
        """How many steps the calls take when all that can be made at once are."""
        depths: list[int] = []
        for call in self.calls:
            depths.append(max((depths[need] + 1 for need in needs(call.slots)), default=0))
        return max(depths, default=0) + 1


def needs(slots: Mapping[str, Slot]) -> set[int]:
    """The calls whose responses are needed."""
    found: set[int] = set()
    waiting = list(slots.values())
    while waiting:
        slot = waiting.pop()
        if isinstance(slot, Take):
            found.add(slot.source)
        elif isinstance(slot, Group):
            waiting.extend(slot.parts)
    return found
