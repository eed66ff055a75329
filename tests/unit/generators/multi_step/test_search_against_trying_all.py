"""The search held against trying everything: every set of calls that what is known allows, from
the front.
"""

from itertools import combinations

import pytest

from callwright.generators.multi_step.resolving import resolve
from callwright.warehouse.records import Call, Condition, Goal, StatedValue
from tests.support.generators.multi_step.paths import shortest_paths
from tests.support.generators.multi_step.town import TOOLS, Town, goal

MOST_CALLS = 5
Keys = frozenset[str]


async def all_calls(wish: Goal, names: frozenset[str]) -> list[tuple[Call, set[object]]]:
    """Every answered call that can be made of what is said and of what links find, with what its
    response gives.
    """
    town = Town()
    texts = [
        source.value
        for call in wish.calls
        for source in call.arguments.values()
        if isinstance(source, StatedValue)
    ]
    found: dict[str, tuple[Call, set[object]]] = {}
    known: dict[str, set[object]] = {
        "query": {texts[0]},
        "text": {texts[0]},
        "check_in": {"2026-12-05"},
        "adults": {1},
    }
    for _ in range(len(TOOLS)):
        for tool in (tool for tool in TOOLS if tool.name in names):
            for call in _combined(tool.name, list(tool.properties), known):
                answer = await town.answer(call)
                if not answer.problem:
                    found[call.key] = call, _learn(tool.name, answer.response, known)
    return list(found.values())


def _combined(tool: str, parameters: list[str], known: dict[str, set[object]]) -> list[Call]:
    rows: list[dict[str, object]] = [{}]
    for name in parameters:
        rows = [
            {**row, name: value}
            for row in rows
            for value in sorted(known.get(name, set()), key=str)
        ]
    return [Call.model_validate({"tool": tool, "arguments": row}) for row in rows]


def _learn(tool: str, response: object, known: dict[str, set[object]]) -> set[object]:
    """What links find in a response, for the parameters that they feed."""
    given: set[object] = set()
    for link in Town.links:
        if link.source == tool:
            entries = response
            for piece in link.entries.split("."):
                entries = entries[piece]  # type: ignore[index]
            values = {entry[link.field] for entry in entries}  # type: ignore[union-attr,index]
            known.setdefault(link.parameter, set()).update(values)
            given |= values
    return given


def _is_possible(calls: list[tuple[Call, set[object]]]) -> bool:
    """Whether every linked argument is in the response to another call of the set that can be
    made before it.
    """
    linked = {(link.tool, link.parameter) for link in Town.links}
    have: set[object] = set()
    left = list(calls)
    while left:
        ready = [
            one
            for one in left
            if all(
                value in have
                for name, value in one[0].arguments.items()
                if (one[0].tool, name) in linked
            )
        ]
        if not ready:
            return False
        have = have.union(*(given for _, given in ready))
        left = [one for one in left if one not in ready]
    return True


async def tried(wish: Goal, names: frozenset[str]) -> set[Keys]:
    """The smallest sets of calls that have the wanted ones in them."""
    resolved = await resolve(wish, Town())
    wanted = {resolved.call(index).key for index, call in enumerate(wish.calls) if call.wanted}
    calls = await all_calls(wish, names)
    for size in range(len(wanted), MOST_CALLS + 1):
        sets = {
            frozenset(call.key for call, _ in some)
            for some in combinations(calls, size)
            if wanted <= {call.key for call, _ in some} and _is_possible(list(some))
        }
        if sets:
            return sets
    return set()


FJORD = (Condition(test="equals", field="name", value="Fjord House"),)


@pytest.mark.parametrize(
    "without", ["", "locate_place", "find_place", "hotel_card", "hotel_reviews"]
)
@pytest.mark.parametrize("wish", [goal(), goal(city="Bern"), goal(city="Graz"), goal(where=FJORD)])
async def test_the_search_finds_all_shortest_paths_and_no_others(wish: Goal, without: str) -> None:
    names = frozenset(tool.name for tool in TOOLS) - {without, "hotel_card"}
    resolved = await resolve(wish, Town())
    wanted = {resolved.call(index).key for index, call in enumerate(wish.calls) if call.wanted}
    tools = [tool for tool in TOOLS if tool.name in names]
    found = {
        frozenset(call.key for exchange in path for call in exchange.calls)
        for path in await shortest_paths(wish, Town(), tools, limit=99)
    }
    assert {keys for keys in found if wanted <= keys} == await tried(wish, names)
