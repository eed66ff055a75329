"""New values for what a goal's user says, by kind: the same old value gets the same new one everywhere.

Dates move together, so that order and duration stay; what lies in a city moves with it (ComplexFuncBench 2.1.3).
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from random import Random

import orjson
from pydantic import JsonValue

from generators.environments.protocol import Environment
from generators.paths.evidence import schema_of
from generators.paths.goals_values import Wish
from generators.paths.goals_vocabularies import TravelTrip, vocabulary_of
from generators.paths.known import pattern_of
from generators.paths.sources import Leaf, leaves_of, with_leaves
from llm.language.kinds import DATE_TIME_VALUE, DATE_VALUE
from warehouse.records import Condition, Default, Goal, Picked, Said, Tool

_LATEST_SHIFT, _EARLIEST_SHIFT = 60, -40
_ROLE = "main"
_LOCAL = frozenset({"city", "place", "airport", "hotel", "attraction"})
_KEPT_SHARE = 0.25  # of values that are no places and no dates: a variant need not change all of them
Replacements = dict[str, JsonValue]  # by the old value's name, see `name_of`


def name_of(said: Said) -> str:
    """One name for equal values of one kind."""
    return f"{'date' if _is_dated(said.value) else said.element} {orjson.dumps(said.value).decode()}"


def said_leaves(goal: Goal) -> Iterator[Leaf]:
    """Every value that the user says, where it stands."""
    for index, planned in enumerate(goal.calls):
        yield from (leaf for leaf in leaves_of(index, planned.arguments) if isinstance(leaf.source, Said))


def choose_replacements(
    goal: Goal, environment: Environment, tools: Mapping[str, Tool], fixed: frozenset[str], rng: Random
) -> Replacements:
    """Another value for each that may be replaced; those named in `fixed` keep theirs."""
    drawn = _Draw(environment, rng)
    found: Replacements = {}
    for leaf in said_leaves(goal):
        said = leaf.source
        if not isinstance(said, Said) or not said.replaceable or name_of(said) in found or name_of(said) in fixed:
            continue
        tool = tools[goal.calls[leaf.call].tool]
        new = drawn.instead_of(said, tool, leaf.argument)
        if new is not None and new != said.value:
            found[name_of(said)] = new
    return found


def replace_said(goal: Goal, new: Mapping[str, JsonValue]) -> Goal:
    """The goal with other values said, in its conditions as well where they compare with one of them."""
    texts: dict[str, JsonValue] = {
        said.value: new[name_of(said)]
        for leaf in said_leaves(goal)
        if isinstance(said := leaf.source, Said) and isinstance(said.value, str) and name_of(said) in new
    }
    calls = []
    for index, planned in enumerate(goal.calls):
        leaves: dict[str, Said | Default | Picked] = {}
        for leaf in leaves_of(index, planned.arguments):
            if isinstance(leaf.source, Said) and name_of(leaf.source) in new:
                leaves[leaf.argument] = leaf.source.with_changes(value=new[name_of(leaf.source)])
            elif isinstance(leaf.source, Picked):
                leaves[leaf.argument] = leaf.source.with_changes(where=_where(leaf.source.where, texts))
        calls.append(planned.with_changes(arguments=with_leaves(planned.arguments, leaves)))
    return goal.with_changes(calls=tuple(calls))


def replace_condition(goal: Goal, old: tuple[Condition, ...], new: tuple[Condition, ...], call: int) -> Goal:
    """The goal with other conditions for every value that was picked from the response of `call` by the old ones."""
    calls = []
    for index, planned in enumerate(goal.calls):
        leaves: dict[str, Said | Default | Picked] = {
            leaf.argument: leaf.source.with_changes(where=new)
            for leaf in leaves_of(index, planned.arguments)
            if isinstance(leaf.source, Picked) and leaf.source.call == call and leaf.source.where == old
        }
        calls.append(planned.with_changes(arguments=with_leaves(planned.arguments, leaves)) if leaves else planned)
    return goal.with_changes(calls=tuple(calls))


def _where(where: tuple[Condition, ...], texts: Mapping[str, JsonValue]) -> tuple[Condition, ...]:
    return tuple(
        one.with_changes(value=texts[one.value]) if isinstance(one.value, str) and one.value in texts else one
        for one in where
    )


class _Draw:
    """New values that go together."""

    def __init__(self, environment: Environment, rng: Random) -> None:
        self._rng = rng
        self._trip = vocabulary_of(environment).trip(rng)
        self._days = rng.choice([days for days in range(_EARLIEST_SHIFT, _LATEST_SHIFT) if days])
        self._moved: dict[str, str] = {}

    def instead_of(self, said: Said, tool: Tool, argument: str) -> JsonValue | None:
        if _is_dated(said.value):
            return _moved(str(said.value), self._days)
        if said.element in _LOCAL and isinstance(self._trip, TravelTrip):
            return self._elsewhere(said)
        if self._rng.random() < _KEPT_SHARE and said.element not in _LOCAL:
            return None
        schema = schema_of(tool, argument)
        role = _ROLE if isinstance(self._trip, TravelTrip) else str(said.value)
        return self._trip.say(Wish(said.element, role, tool.name, pattern_of(argument), 0, schema))

    def _elsewhere(self, said: Said) -> JsonValue | None:
        """The same kind of thing in the city that takes the place of its own."""
        from generators.environments.travel.places import sayable

        place = _places().get(str(said.value))
        if place is None:
            return None
        kind, home = place
        if home not in self._moved:
            left = [name for name in _airport_cities() if name != home and name not in self._moved.values()]
            self._moved[home] = self._rng.choice(left)
        new = self._moved[home]
        return new if kind == "city" else sayable(kind, self._rng, city=new)  # type: ignore[arg-type]


def _is_dated(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(DATE_VALUE.fullmatch(value) or DATE_TIME_VALUE.fullmatch(value))


def _moved(value: str, days: int) -> str:
    moved = datetime.fromisoformat(value) + timedelta(days=days)
    return moved.date().isoformat() + value[len("2027-01-01") :]


@lru_cache(1)
def _airport_cities() -> tuple[str, ...]:
    from generators.environments.travel.places import cities

    return tuple(city.name for city in cities() if city.airports)


@lru_cache(1)
def _places() -> dict[str, tuple[str, str]]:
    """The kind and the city of each thing that lies in a city, by its name."""
    from generators.environments.travel.places import attractions, cities, hotel_names

    found: dict[str, tuple[str, str]] = {}
    for city in cities():
        found |= dict.fromkeys(attractions(city.name), ("attraction", city.name))
        found |= dict.fromkeys(hotel_names(city.name), ("hotel", city.name))
        found |= {place.name: ("place", city.name) for place in (*city.landmarks, *city.districts)}
        found |= {place.name: ("airport", city.name) for place in city.airports}
    return found | {name: ("city", city.name) for city in cities() for name in (city.name, *city.other_names)}
