"""Goals with two tools of which either would do: nobody could tell which of them is meant."""

from collections.abc import Callable, Sequence

from generators.paths.goals_atlas import Atlas
from generators.paths.goals_slots import SketchedCall, Take
from warehouse.records.paths import ElementKind

Element = Callable[[str, str], ElementKind]


def overlaps(calls: Sequence[SketchedCall], atlas: Atlas, element: Element) -> bool:
    """Whether two of the calls' tools could give one parameter its value: two searches for one thing, two look-ups."""
    used = {call.tool for call in calls}
    return any(
        len(used & _rivals(call.tool, name, slot, atlas, element)) > 1
        for call in calls
        for name, slot in call.slots.items()
        if isinstance(slot, Take)
    )


def _rivals(tool: str, name: str, take: Take, atlas: Atlas, element: Element) -> set[str]:
    """The tools that could give a parameter what it takes, in the very way that it takes it."""
    sources = {link.source for link in atlas.links(tool, name) if atlas.is_listed(link)}
    if take.manner == "lookup":
        asked = _asked(take.link.source, atlas, element)
        return {one for one in sources if atlas.is_lookup(one) and _asked(one, atlas, element) == asked}
    if take.manner != "ranked" or element(tool, name) != "identifier":
        return set()
    return {one for one in sources if not atlas.is_lookup(one)}


def _asked(lookup: str, atlas: Atlas, element: Element) -> ElementKind:
    """What kind of thing a look-up is told."""
    return element(lookup, atlas.tools[lookup].required[0])
