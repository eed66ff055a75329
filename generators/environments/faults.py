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
Replace = Callable[[JsonValue, str], JsonValue]  # a value, and the field that has it


class FaultyWorld:
    """A world with a fault laid over it (`StatefulWorld`)."""

    def __init__(self, world: StatefulWorld, fault: Fault) -> None:
        """Lay a fault over a world."""
        self.name, self.tools, self.seed, self.unclear = world.name, world.tools, world.seed, world.unclear
        self._world, self._fault = world, fault

    def begin(self, seed: int | None = None) -> "FaultyEpisode":
        """A new episode, in which nothing has gone wrong yet."""
        return FaultyEpisode(self._world.begin(seed), self._fault)

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool can change the world."""
        return self._world.writes(tool)


class FaultyEpisode:
    """An episode in which something goes wrong (`WorldEpisode`)."""

    __slots__ = ("_episode", "_fault")

    def __init__(self, episode: WorldEpisode, fault: Fault) -> None:
        """Lay a fault over an episode that has just begun."""
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
        number = self.state.counters.get(_CALLS, 0)
        answered = self._answered(call, number)
        self._episode.restore(self._episode.snapshot().counted(_CALLS))
        return answered

    def _answered(self, call: Call, number: int) -> CallResponse:
        fault = self._fault
        if fault.is_text and fault.field:
            return self._told_otherwise(call, _in_field(fault.field, fault.value, fault.instead))
        match fault.sort:
            case "timeout" | "unsure" if number == fault.at:
                if fault.takes_effect:
                    self._episode.answer(call)
                return _refused(fault.told, passing=True)
            case "unavailable" if number >= fault.at and fault.call and call.tool == fault.call.tool:
                return _refused(fault.told)
            case "gone" if number >= fault.at:
                if is_in(fault.value, call.arguments):
                    return _refused(fault.told)
                answered = self._episode.answer(call)
                return answered._replace(response=_without(answered.response, fault.value))
            case "stale_id" if number == fault.at:
                return self._told_otherwise(call, lambda value, _: fault.instead if value == fault.value else value)
        return self._episode.answer(call)

    def _told_otherwise(self, call: Call, replace: Replace) -> CallResponse:
        answered = self._episode.answer(call)
        return answered._replace(response=replaced(answered.response, replace))


def _refused(told: JsonValue, *, passing: bool = False) -> CallResponse:
    return CallResponse(told, problem=orjson.dumps(told).decode(), passing=passing)


def _in_field(field: str, value: JsonValue, instead: JsonValue) -> Replace:
    return lambda one, name: instead if name == field and one == value else one


def replaced(value: JsonValue, replace: Replace, field: str = "") -> JsonValue:
    """A JSON value in which each part that holds no others is replaced."""
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
