"""The shortest paths that meet a goal, found by search over what an environment answers (ComplexFuncBench 2.1.2).

A call can be made of what the user said, of defaults, and of values that a link finds in the response to an earlier
call: the value that the goal's conditions pick, or one that they would pick as well. A path has what every wanted call
needs and no more; fewest steps come first, then fewest calls. Two paths are one where they make the same calls.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from generators.environments.protocol import Environment
from generators.paths.answers import RememberedEnvironment
from generators.paths.resolving import Resolved, resolve
from generators.paths.sources import leaves_of, with_leaves
from generators.paths.suppliers import Made, Suppliers
from generators.paths.ways import Ways
from warehouse.records import Default, Exchange, Goal, Picked, PlannedCall, Said, Strike, Tool

MOST_PLANS = 512
Path = tuple[Exchange, ...]


class Plan(NamedTuple):
    """A path of shortest length, and the goal that it is the planned path of."""

    goal: Goal
    path: Path


async def shortest_paths(
    goal: Goal, environment: Environment, candidates: Sequence[Tool], strikes: Sequence[Strike] = (), limit: int = 2
) -> list[Path]:
    """The shortest paths with the candidates alone, the planned one first, at most `limit` of them.

    `strikes` name places of the path that `resolve` makes of the goal. None at all where the goal can't be met.
    """
    remembered = RememberedEnvironment(environment)
    if strikes:
        remembered = remembered.struck((await resolve(goal, remembered)).path, strikes)
    return [plan.path for plan in await find_plans(goal, remembered, candidates, limit)]


async def find_plans(goal: Goal, environment: Environment, candidates: Sequence[Tool], limit: int = 2) -> list[Plan]:
    """The shortest paths with the goals that they are planned by; see `shortest_paths`."""
    resolved = await resolve(goal, environment)
    ways = Ways(goal, resolved, environment, Suppliers(goal, resolved, environment, candidates))
    wanted = wanted_of(goal)
    choices = [await ways.of(index) for index in wanted]
    if not all(choices):
        return []
    found: dict[frozenset[str], list[Made]] = {}
    for chosen in _combinations(choices):
        calls = _calls(chosen)
        name = frozenset(made.call.key for made in calls)
        if name not in found or sum(one.step for one in calls) < sum(one.step for one in found[name]):
            found[name] = calls
    plans: list[Plan] = []
    best: tuple[int, int] | None = None
    for calls in sorted(found.values(), key=_length):  # the sort is stable: what is planned stays before its equals
        if len(plans) == limit or best not in (None, _length(calls)):
            break
        plan = await _plan(goal, resolved, calls, environment)
        if plan is not None:
            plans.append(plan)
            best = _length(calls)
    return plans


def wanted_of(goal: Goal) -> list[int]:
    """The calls that the user asks for; where none is marked, those whose responses no other call needs."""
    wanted = [index for index, planned in enumerate(goal.calls) if planned.wanted]
    used = {
        leaf.source.call
        for index, planned in enumerate(goal.calls)
        for leaf in leaves_of(index, planned.arguments)
        if isinstance(leaf.source, Picked)
    }
    return wanted or [index for index in range(len(goal.calls)) if index not in used]


def _combinations(choices: list[list[Made]]) -> Iterator[tuple[Made, ...]]:
    """Ways for all wanted calls: as planned, with one of them otherwise, then all together as far as bounded."""
    planned = [ways[0] for ways in choices]
    yield tuple(planned)
    for index, ways in enumerate(choices):
        for way in ways[1:]:
            yield (*planned[:index], way, *planned[index + 1 :])
    yield from islice(product(*choices), MOST_PLANS)


def _calls(chosen: Sequence[Made]) -> list[Made]:
    """Every call that these need, each once, after those that it needs itself."""
    found: dict[str, Made] = {}

    def visit(made: Made) -> None:
        for need in made.needs:
            visit(need)
        held = found.get(made.call.key)
        if held is None or made.step < held.step:
            found[made.call.key] = made

    for made in chosen:
        visit(made)
    return sorted(found.values(), key=lambda one: one.step)


def _length(calls: Sequence[Made]) -> tuple[int, int]:
    return max(made.step for made in calls) + 1, len(calls)


async def _plan(goal: Goal, resolved: Resolved, calls: list[Made], environment: Environment) -> Plan | None:
    """The path of these calls, None where one of them is not answered."""
    keys = {made.call.key for made in calls}
    if keys == {call.key for exchange in resolved.path for call in exchange.calls}:
        return Plan(goal, resolved.path)
    path: list[Exchange] = []
    for step in range(calls[-1].step + 1):
        made = [one.call for one in calls if one.step == step]
        answers = [await environment.answer(call) for call in made]
        if any(answer.problem for answer in answers):
            return None
        path.append(Exchange(calls=tuple(made), responses=tuple(answer.response for answer in answers)))
    return Plan(_goal(goal, resolved, calls), tuple(path))


def _goal(goal: Goal, resolved: Resolved, calls: list[Made]) -> Goal:
    keys = [made.call.key for made in calls]
    planned: list[PlannedCall] = []
    for made in calls:
        new: dict[str, Said | Default | Picked] = {
            leaf.argument: leaf.source.with_changes(call=keys.index(made.needs[leaf.source.call].call.key))
            for leaf in leaves_of(0, made.planned.arguments)
            if isinstance(leaf.source, Picked)
        }
        planned.append(made.planned.with_changes(arguments=with_leaves(made.planned.arguments, new)))
    return goal.with_changes(calls=tuple(planned))
