"""Worlds in which something goes wrong: a layer over a world, by the fault of a sample.

    world = FaultyWorld(world_of(environment), sample.fault)
    episode = world.begin(sample.simulation_seed)

What goes wrong depends on the fault and on the calls so far alone: how many were answered is counted in the state of the
episode, so that snapshots know it. What is answered by the layer changes nothing in the world below.
"""

from collections.abc import Callable

import orjson
from pydantic import JsonValue

from callwright.generators.environments.episodes import StatefulWorld, WorldEpisode, WorldState
from callwright.generators.environments.protocol import CallResponse
from callwright.language.schemas import scalars
from callwright.warehouse.records import Call, Fault

_CALLS = "\0calls"


class FaultyWorld:
    """A world with a fault laid over it (`StatefulWorld`)."""

    def __init__(self, world: StatefulWorld, fault: Fault) -> None:
        self.name, self.tools, self.seed, self.unclear = world.name, world.tools, world.seed, world.unclear
        self._world, self._fault = world, fault

    def begin(self, seed: int | None = None) -> "FaultyEpisode":
        """A new episode, in which nothing has gone wrong yet."""
        return FaultyEpisode(self._world.begin(seed), self._fault)

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool can change the world."""
        return self._world.writes(tool)


class FaultyEpisode(WorldEpisode):
    """An episode in which something goes wrong."""

    def __init__(self, episode: WorldEpisode, fault: Fault) -> None:
        self._episode, self._fault = episode, fault

    @property
    def state(self) -> WorldState:
        """What the calls so far have made of the world."""
        return self._episode.state

    def snapshot(self) -> WorldState:
        """The state, to go back to."""
        return self._episode.snapshot()

    def restore(self, snapshot: WorldState) -> None:
        """Go back to a state of this world, and to as many calls."""
        self._episode.restore(snapshot)

    def answer(self, call: Call) -> CallResponse:
        """The response to a call, or what goes wrong in its place."""
        answered = self._answered(call, self.state.counters.get(_CALLS, 0))
        self._episode.restore(self._episode.snapshot().counted(_CALLS))
        return answered

    def _answered(self, call: Call, number: int) -> CallResponse:
        fault, ask = self._fault, self._episode.answer
        refused = CallResponse(fault.told, problem=orjson.dumps(fault.told).decode())
        match fault.sort:
            case "injected" | "delegated" | "harmless" if fault.field:
                return self._told_otherwise(ask(call), fault.field)
            case "timeout" | "unsure" if number == fault.at:
                if fault.takes_effect:
                    ask(call)
                return refused._replace(passing=True)
            case "unavailable" if number >= fault.at and fault.call and call.tool == fault.call.tool:
                return refused
            case "gone" if number >= fault.at:
                if is_in(fault.value, call.arguments):
                    return refused
                answered = ask(call)
                return answered._replace(response=_without(answered.response, fault.value))
            case "stale_id" if number == fault.at:
                return self._told_otherwise(ask(call))
        return ask(call)

    def _told_otherwise(self, answered: CallResponse, field: str = "") -> CallResponse:
        """The response with what the fault tells instead of its value, in one field unless in all."""
        old, new = self._fault.value, self._fault.instead
        found = replaced(answered.response, lambda one, name: new if one == old and field in ("", name) else one)
        return answered._replace(response=found)


def replaced(value: JsonValue, replace: Callable[[JsonValue, str], JsonValue], field: str = "") -> JsonValue:
    """A JSON value in which each part that holds no others is replaced, by what it is and the field that has it."""
    if isinstance(value, dict):
        return {name: replaced(member, replace, name) for name, member in value.items()}
    if isinstance(value, list):
        return [replaced(member, replace, field) for member in value]
    return replace(value, field)


def is_in(wanted: JsonValue, value: JsonValue) -> bool:
    """Whether a JSON value is or has another one; of text and numbers the text decides, as ids in a path are text."""
    return any(str(one) == str(wanted) for one in scalars(value) if not isinstance(one, bool))


def _without(value: JsonValue, gone: JsonValue) -> JsonValue:
    """A JSON value without the entries of lists that have another value."""
    if isinstance(value, dict):
        return {name: _without(member, gone) for name, member in value.items()}
    if isinstance(value, list):
        return [_without(member, gone) for member in value if not is_in(gone, member)]
    return value
