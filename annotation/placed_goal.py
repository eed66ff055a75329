"""Where on a path each call of its goal is made, and where each of its values comes from: from the records alone."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue

from annotation.picks import Pick
from generators.multi_step.picking import choose, entries_of, value_at
from generators.multi_step.sources import Leaf, leaves_of, shifted, values_of
from warehouse.errors import RecordError
from warehouse.records import Call, GoalPath, Picked

Place = tuple[int, int]  # the step, and which call of it


class PlacedGoal(NamedTuple):
    """The leaves of each call's arguments, where the calls are made, and what is picked out of their responses."""

    leaves: Mapping[Place, list[Leaf]]
    places: Mapping[int, Place]
    picks: Mapping[tuple[int, int, str], list[Pick]]


def place_goal(path: GoalPath) -> PlacedGoal:
    """Follow the goal's rules through the path's responses; a call whose rules lead nowhere has no place."""
    made = {
        call.key: (step, position)
        for step, exchange in reversed([*enumerate(path.path)])
        for position, call in enumerate(exchange.calls)
    }
    placed = PlacedGoal({}, {}, {})
    leaves_at: dict[Place, list[Leaf]] = {}
    places: dict[int, Place] = {}
    picks: dict[tuple[int, int, str], list[Pick]] = {}
    for index, planned in enumerate(path.traced.worded.goal.calls):
        leaves = leaves_of(index, planned.arguments)
        try:
            found = {leaf.argument: _pick(path, leaf, places) for leaf in leaves if isinstance(leaf.source, Picked)}
            arguments = values_of(planned.arguments, {name: value for name, (_, _, value) in found.items()})
        except RecordError:
            continue  # the path is not what its goal says; the checks tell so, and there is no place to show
        place = made.get(Call(tool=planned.tool, arguments=arguments).key)
        if place is None:
            continue
        places[index] = place
        leaves_at.setdefault(place, leaves)
        for name, (source, entry, _) in found.items():
            leaf = next(one for one in leaves if one.argument == name)
            if isinstance(leaf.source, Picked):
                picks.setdefault((*source, leaf.source.entries), []).append(
                    Pick(planned.tool, name, leaf.source, entry)
                )
    return placed._replace(leaves=leaves_at, places=places, picks=picks)


def _pick(path: GoalPath, leaf: Leaf, places: Mapping[int, Place]) -> tuple[Place, int, JsonValue]:
    """The response that a leaf is picked out of, the entry, and the value."""
    source = leaf.source
    if not isinstance(source, Picked) or source.call not in places:
        raise RecordError(f"The call that {leaf.argument!r} is picked out of is not on the path.")
    step, position = places[source.call]
    fitting = choose(entries_of(path.path[step].responses[position], source.entries), source.where)
    if not fitting:
        raise RecordError(f"No entry of {source.entries!r} meets the conditions for {leaf.argument!r}.")
    value = shifted(value_at(fitting[0].value, source.field), source.later_by)
    return (step, position), fitting[0].index, value
