"""A goal's calls made step by step: every value source becomes a value, every call gets its response."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import Entry, choose, entries_of, join, value_at
from callwright.generators.environments.protocol import CallResponse, Environment, WrappedEnvironment
from callwright.generators.multi_step.sources import SourceLeaf, leaves_of, shifted, values_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Call, Exchange, Goal, Picked, Strike


class NoEntryError(RecordError):
    """No entry meets the conditions for a picked value; `leaf` and `entries` say which value, and of which entries."""

    def __init__(self, message: str, leaf: SourceLeaf, source: Picked, entries: list[Entry]) -> None:
        """Keep what another condition could be chosen by."""
        super().__init__(message)
        self.leaf, self.source, self.entries = leaf, source, entries


class PickedPlace(NamedTuple):
    """Where a picked leaf was found: response `call` of step `step`, at `path`; `entry` of the `fitting` entries."""

    leaf: SourceLeaf
    step: int
    call: int
    path: str
    entry: int
    fitting: tuple[int, ...]
    source: Picked


class Resolved(NamedTuple):
    """A goal's path. `positions` says at which step, and where in it, each call of the goal is made."""

    path: tuple[Exchange, ...]
    places: tuple[PickedPlace, ...]
    positions: tuple[tuple[int, int], ...]

    def call(self, index: int) -> Call:
        """The call that is made for a call of the goal."""
        step, position = self.positions[index]
        return self.path[step].calls[position]

    def response(self, index: int) -> JsonValue:
        """The response to a call of the goal."""
        step, position = self.positions[index]
        return self.path[step].responses[position]


async def resolve(
    goal: Goal, environment: Environment, entries: Mapping[tuple[int, str], int] = MappingProxyType({})
) -> Resolved:
    """Make the goal's calls, those of one step at once; RecordError says which value or response is missing and why.

    Where several entries meet the conditions, the first is taken, unless `entries` names another by call and argument.
    """
    return await _Resolution(goal, environment, entries).run()


def steps_of(goal: Goal) -> list[int]:
    """The step of each call: one after the last of those whose responses it needs."""
    steps: list[int] = []
    for index, planned in enumerate(goal.calls):
        needed = {leaf.source.call for leaf in leaves_of(index, planned.arguments) if isinstance(leaf.source, Picked)}
        late = sorted(call for call in needed if call >= index)
        if late:
            raise RecordError(f"Call {index} ({planned.tool}) takes a value from call {late[0]}, which comes later.")
        steps.append(max((steps[call] + 1 for call in needed), default=0))
    return steps


class _Resolution:
    """What is known on the way: the steps made, and where each picked value was found."""

    def __init__(self, goal: Goal, environment: Environment, entries: Mapping[tuple[int, str], int]) -> None:
        self.goal, self.environment, self.entries = goal, environment, entries
        self.positions: dict[int, tuple[int, int]] = {}
        self.path: list[Exchange] = []
        self.places: list[PickedPlace] = []

    async def run(self) -> Resolved:
        steps = steps_of(self.goal)
        for step in range(max(steps) + 1):
            calls: list[Call] = []
            for index in (index for index, at in enumerate(steps) if at == step):
                call = self._call(index)
                if call not in calls:
                    calls.append(call)
                self.positions[index] = (step, calls.index(call))
            self.path.append(Exchange(calls=tuple(calls), responses=tuple([await self._answer(one) for one in calls])))
        positions = tuple(self.positions[index] for index in range(len(steps)))
        return Resolved(tuple(self.path), tuple(self.places), positions)

    async def _answer(self, call: Call) -> JsonValue:
        answer = await self.environment.answer(call)
        if answer.problem:
            raise RecordError(f"The call of {call.tool} with {call.arguments!r} was not answered: {answer.problem}")
        return answer.response

    def _call(self, index: int) -> Call:
        planned = self.goal.calls[index]
        leaves = leaves_of(index, planned.arguments)
        picked = {leaf.argument: self._picked(leaf, leaf.source) for leaf in leaves if isinstance(leaf.source, Picked)}
        return Call(tool=planned.tool, arguments=values_of(planned.arguments, picked))

    def _picked(self, leaf: SourceLeaf, source: Picked) -> JsonValue:
        step, position = self.positions[source.call]
        exchange = self.path[step]
        entries = entries_of(exchange.responses[position], source.entries)
        fitting = choose(entries, source.where)
        wished = self.entries.get((leaf.call, leaf.argument))
        entry = next((one for one in fitting if wished in (None, one.index)), None)
        if entry is None:
            raise NoEntryError(
                f"No entry of {source.entries or 'the response'!r} that {exchange.calls[position].tool} returned meets"
                f" the conditions for {leaf.argument!r} of {self.goal.calls[leaf.call].tool}.",
                leaf, source, entries,
            )  # fmt: skip
        path = join(entry.place, source.field)
        self.places.append(
            PickedPlace(leaf, step, position, path, entry.index, tuple(one.index for one in fitting), source)
        )
        return shifted(value_at(entry.value, source.field), source.later_by)


class RememberedEnvironment(WrappedEnvironment):
    """Asks `environment` once for each call; what was struck from the response to a call is left out of it."""

    def __init__(self, environment: Environment, recorded: Iterable[tuple[Call, JsonValue]] = ()) -> None:
        """Answer the calls of `recorded` by their stored responses."""
        super().__init__(environment)
        self._answers = {call.key: CallResponse(response) for call, response in recorded}
        self._strikes: Mapping[str, Sequence[Strike]] = {}

    def struck(self, path: Sequence[Exchange], strikes: Sequence[Strike]) -> "RememberedEnvironment":
        """The same environment, without the entries struck from the responses to these calls of `path`."""
        one = RememberedEnvironment(self._environment)
        one._answers = self._answers
        by_call: dict[str, list[Strike]] = {}
        for strike in strikes:
            by_call.setdefault(path[strike.step].calls[strike.call].key, []).append(strike)
        one._strikes = by_call
        return one

    async def answer(self, call: Call) -> CallResponse:
        """The response to a call without what was struck, never an exception."""
        key = call.key
        if key not in self._answers:
            self._answers[key] = await self._environment.answer(call)
        answer = self._answers[key]
        strikes = self._strikes.get(key)
        return CallResponse(strike_out(answer.response, strikes), answer.problem) if strikes else answer


def strike_out(response: JsonValue, strikes: Sequence[Strike]) -> JsonValue:
    """A response without the entries that were struck; the rest of it is shared with the original."""
    by_list: dict[str, set[int]] = {}
    for strike in strikes:
        by_list.setdefault(strike.entries, set()).add(strike.entry)
    for entries, gone in by_list.items():
        held = value_at(response, entries)
        if isinstance(held, list):
            kept: list[JsonValue] = [member for index, member in enumerate(held) if index not in gone]
            response = _replaced(response, _pieces(entries), kept)
    return response


def original_index(index: int, gone: Iterable[int]) -> int:
    """Where the entry stood that is at `index` now that those of `gone` were struck."""
    for struck in sorted(gone):
        if struck <= index:
            index += 1
    return index


def _pieces(path: str) -> list[str]:
    return [piece for piece in path.replace("[", ".").replace("]", "").split(".") if piece]


def _replaced(value: JsonValue, pieces: list[str], new: JsonValue) -> JsonValue:
    if not pieces:
        return new
    head, *rest = pieces
    if isinstance(value, dict):
        return {**value, head: _replaced(value[head], rest, new)}
    if isinstance(value, list):
        return [_replaced(one, rest, new) if index == int(head) else one for index, one in enumerate(value)]
    return value
