"""Which parameters an ordinary request states: required ones first, everyday kinds before ids, flags and paging."""

import re
from collections.abc import Sequence
from random import Random

from language.calls.parameters import meaning_of
from language.names import words
from warehouse.records import JsonSchema

_EVERYDAY = frozenset(
    words(
        "date time moment origin destination place person quantity money choice title task product food music"
        " film book query message duration address"
    )
)
_SELDOM = frozenset({"boolean", "link", "uuid", "object", "pin", "file", "details"})
_TECHNICAL = re.compile(
    r"page|limit|offset|cursor|sort|order_?by|token|format|locale|lang|verbose|debug|version", re.IGNORECASE
)


def choose_names(
    offered: Sequence[str], count: int, properties: dict[str, JsonSchema], required: Sequence[str], rng: Random
) -> list[str]:
    """As many of the offered names as asked for, in the order offered; the likeliest to be said, with some chance."""
    weights = {name: _weight(name, properties.get(name, {}), name in required) + rng.random() for name in offered}
    chosen = set(sorted(offered, key=lambda name: -weights[name])[:count])
    return [name for name in offered if name in chosen]


def _weight(name: str, schema: JsonSchema, required: bool) -> float:  # noqa: FBT001 - a fact about the parameter
    kind = meaning_of(name, schema)
    weight = 2.0 if required else 0.0
    if kind in _EVERYDAY:
        weight += 1.0
    if kind in _SELDOM:
        weight -= 0.5
    return weight - 1.5 if _TECHNICAL.search(name) else weight
