"""Make a path unique by removing overlapping tools and striking entries that fit as well.

Only as many as necessary; unrelated ones stay (ComplexFuncBench 2.1.2).
"""

from collections.abc import Sequence
from typing import NamedTuple

from callwright.generators.environments.picking import Entry, entries_of, has, rivals, value_at
from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.resolving import (
    PickedPlace,
    RememberedEnvironment,
    Resolved,
    original_index,
    resolve,
)
from callwright.generators.multi_step.search import ShortestPath, find_plans
from callwright.generators.multi_step.tasks import environment_of
from callwright.generators.stages import StageContext
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Exchange, Goal, GoalPath, Origin, Strike, Tool

STAGE = "disambiguation"
_ROUNDS = 12
_PLANS = 8
ListName = tuple[int, int, str]  # step, call and entries


class Cleared(NamedTuple):
    """A goal's path after the strikes and removals; `plans` are the shortest ones still left."""

    goal: Goal
    resolved: Resolved
    strikes: tuple[Strike, ...]
    removed: tuple[str, ...]
    plans: tuple[ShortestPath, ...]

    @property
    def is_single(self) -> bool:
        """Whether the planned path is the only shortest one."""
        return len(self.plans) == 1 and calls_of(self.plans[0].path) == calls_of(self.resolved.path)


async def disambiguate(path: GoalPath, context: StageContext) -> list[GoalPath]:
    """Strike and remove what leaves a choice; if one remains, the path is passed on as it is."""
    goal = path.traced.worded.goal
    tools = context.toolset(tuple(key for key in goal.candidates if key not in path.removed))
    cleared = await clear(goal, RememberedEnvironment(environment_of(goal, context)), tools)
    return [
        path.with_changes(
            traced=path.traced.with_changes(
                worded=path.traced.worded.with_changes(goal=cleared.goal)
            ),
            path=cleared.resolved.path,
            strikes=cleared.strikes,
            removed=(*path.removed, *cleared.removed),
            origin=Origin(stage=STAGE, parents=(path.key,), seed=goal.seed),
        )
    ]


async def single_path(
    goal: Goal, environment: Environment, tools: Sequence[Tool]
) -> Cleared | None:
    """Return the goal's path, or one as long, as the only shortest one, or None if impossible."""
    remembered = RememberedEnvironment(environment)
    try:
        planned = (await resolve(goal, remembered)).path
        cleared = await clear(goal, remembered, tools)
    except RecordError:
        return None
    if cleared.is_single and _length(cleared.resolved.path) == _length(planned):
        return cleared
    return None


async def clear(goal: Goal, environment: RememberedEnvironment, tools: Sequence[Tool]) -> Cleared:
    """Strike all picks' rivals, then remove tools that only other paths of that length need.

    If two tools on the path can replace each other, a path that needs only one of them is taken.
    """
    cleared = await _clear(goal, environment, tools)
    if cleared.is_single:
        return cleared
    needed = _tools_of(cleared.resolved.path)
    kept_tools = [tool for tool in tools if tool.key not in cleared.removed]
    for plan in sorted(cleared.plans, key=lambda one: len(_tools_of(one.path))):
        spared = [tool for tool in kept_tools if tool.name in needed - _tools_of(plan.path)]
        if not spared or not _tools_of(plan.path) < needed:
            continue
        other = await _clear(
            plan.goal, environment, [tool for tool in kept_tools if tool not in spared]
        )
        if other.is_single:
            gone = (*cleared.removed, *(tool.key for tool in spared), *other.removed)
            return other._replace(removed=tuple(dict.fromkeys(gone)))
    return cleared


async def _clear(goal: Goal, environment: RememberedEnvironment, tools: Sequence[Tool]) -> Cleared:
    resolved, struck, strikes = await strike_rivals(goal, environment)
    needed = _tools_of(resolved.path)
    kept_tools = list(tools)
    removed: list[str] = []
    while True:
        plans = await find_plans(goal, struck, kept_tools, _PLANS)
        used = frozenset[str]().union(*(_tools_of(plan.path) for plan in plans))
        overlapping = [tool for tool in kept_tools if tool.name in used - needed]
        if not overlapping:
            return Cleared(goal, resolved, strikes, tuple(removed), tuple(plans))
        removed += [tool.key for tool in overlapping]
        kept_tools = [tool for tool in kept_tools if tool not in overlapping]


class Struck(NamedTuple):
    """A goal's path without rivals in its responses, what answers so, and what was struck."""

    resolved: Resolved
    environment: RememberedEnvironment
    strikes: tuple[Strike, ...]


async def strike_rivals(goal: Goal, environment: RememberedEnvironment) -> Struck:
    """Return the goal's path after striking the entries that fit as well as those picked.

    Raises RecordError if it has none.
    """
    original = await resolve(goal, environment)
    strikes: tuple[Strike, ...] = ()
    resolved, struck = original, environment
    for _ in range(_ROUNDS):
        more = _strikes(resolved, strikes)
        if not more:
            break
        strikes += more
        struck = environment.struck(original.path, strikes)
        resolved = await resolve(goal, struck)
    return Struck(resolved, struck, strikes)


def _length(path: Sequence[Exchange]) -> tuple[int, int]:
    return len(path), sum(len(exchange.calls) for exchange in path)


def _tools_of(path: Sequence[Exchange]) -> frozenset[str]:
    return frozenset(call.tool for exchange in path for call in exchange.calls)


def calls_of(path: Sequence[Exchange]) -> frozenset[str]:
    """Return a path's calls by key; paths with the same calls count as one."""
    return frozenset(call.key for exchange in path for call in exchange.calls)


def _strikes(resolved: Resolved, before: Sequence[Strike]) -> tuple[Strike, ...]:
    """Return strikes of entries that fit as well as a picked one and are not picked elsewhere."""
    groups: dict[tuple[ListName, str], list[PickedPlace]] = {}
    chosen: dict[ListName, set[int]] = {}
    for place in resolved.places:
        groups.setdefault((_list_of(place), repr(place.source.where)), []).append(place)
        chosen.setdefault(_list_of(place), set()).add(place.entry)
    new_strikes: dict[tuple[ListName, int], Strike] = {}
    for (name, _), places in groups.items():
        gone = [one.entry for one in before if (one.step, one.call, one.entries) == name]
        for entry in _rivals(resolved, places):
            if entry.index not in chosen[name]:
                step, call, entries = name
                index = original_index(entry.index, gone)
                source, consumer = (
                    resolved.path[step].calls[call].tool,
                    resolved.call(places[0].leaf.call).tool,
                )
                names = " and ".join(sorted({repr(place.leaf.argument) for place in places}))
                reason = f"Another entry that {source} returned fits {names} of {consumer} as well."
                new_strikes[name, index] = Strike(
                    step=step, call=call, entries=entries, entry=index, reason=reason
                )
    return tuple(new_strikes.values())


def _rivals(resolved: Resolved, places: Sequence[PickedPlace]) -> list[Entry]:
    """Return entries that meet the same conditions and give one of the places another value."""
    first = places[0]
    entries = entries_of(resolved.path[first.step].responses[first.call], first.source.entries)
    values = {
        place.source.field: value_at(entries[first.entry].value, place.source.field)
        for place in places
    }
    return [
        entry
        for entry in rivals(entries, first.source.where, first.entry)
        if any(
            has(entry.value, field) and value_at(entry.value, field) != value
            for field, value in values.items()
        )
    ]


def _list_of(place: PickedPlace) -> ListName:
    return place.step, place.call, place.source.entries
