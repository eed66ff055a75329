"""Make a goal's calls step by step: sources become values, and calls get responses."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from pydantic import JsonValue

from callwright.generators.environments.picking import Entry, choose, entries_of, join, value_at
from callwright.generators.environments.protocol import (
    CallResponse,
    Environment,
    WrappedEnvironment,
)
from callwright.language.schemas import Kind, choices_of, kind_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    Call,
    Composed,
    Default,
    Exchange,
    Goal,
    Link,
    Picked,
    PlannedCall,
    StatedValue,
    Strike,
    Tool,
    ValueSource,
)

JOINT = ","
_INDEX = re.compile(r"\[\d+\]")


Source = TypeVar("Source", StatedValue, Picked)


class SourceLeaf(NamedTuple):
    """An uncomposed source and its place: goal call `call`, argument path "legs[0].fromId"."""

    call: int
    argument: str
    source: StatedValue | Default | Picked


def leaves_of(call: int, arguments: Mapping[str, ValueSource]) -> list[SourceLeaf]:
    """Return every source of a call's arguments that is not composed of others."""
    return [leaf for name, source in arguments.items() for leaf in _leaves(call, name, source)]


def sources_in(goal: Goal, kind: type[Source]) -> Iterator[tuple[SourceLeaf, Source]]:
    """Yield every source of a kind in a goal's calls, with its place."""
    for index, planned in enumerate(goal.calls):
        for leaf in leaves_of(index, planned.arguments):
            if isinstance(leaf.source, kind):
                yield leaf, leaf.source


def with_changed_leaves(
    goal: Goal, change: Callable[[SourceLeaf], StatedValue | Default | Picked]
) -> Goal:
    """Return the goal with each leaf of its calls replaced by what `change` returns."""
    calls: list[PlannedCall] = []
    for index, planned in enumerate(goal.calls):
        new = {leaf.argument: change(leaf) for leaf in leaves_of(index, planned.arguments)}
        calls.append(planned.with_changes(arguments=with_leaves(planned.arguments, new)))
    return goal.with_changes(calls=tuple(calls))


def with_leaves(
    arguments: Mapping[str, ValueSource], new: Mapping[str, StatedValue | Default | Picked]
) -> dict[str, ValueSource]:
    """Return the same arguments with another source for each leaf that `new` names."""
    return {name: _with_leaves(name, source, new) for name, source in arguments.items()}


def values_of(arguments: Mapping[str, ValueSource], picked: Mapping[str, JsonValue]) -> Arguments:
    """Return a call's arguments; `picked` holds the value of every picked leaf."""
    return {name: _value(name, source, picked) for name, source in arguments.items()}


def shifted(value: JsonValue, minutes: int) -> JsonValue:
    """Return a date and time `minutes` later, in its form; with 0, any value as it is."""
    if not minutes:
        return value
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        problem = f"{value!r} is no date and time, so it can't be {minutes} minutes later."
        raise RecordError(problem) from error
    later = moment + timedelta(minutes=minutes)
    with_seconds = str(value).count(":") > 1
    return later.isoformat(
        sep="T" if "T" in str(value) else " ", timespec="seconds" if with_seconds else "minutes"
    )


def as_text(value: JsonValue) -> str:
    """Return a value as text, as it appears in a joined text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parts_of(argument: str, source: Composed) -> Iterator[tuple[str, ValueSource]]:
    """Yield the parts of a composed value with their places."""
    for index, part in enumerate(source.parts):
        yield (
            argument + (f".{source.names[index]}" if source.shape == "object" else f"[{index}]"),
            part,
        )


def _leaves(call: int, argument: str, source: ValueSource) -> Iterator[SourceLeaf]:
    if not isinstance(source, Composed):
        yield SourceLeaf(call, argument, source)
        return
    for name, part in parts_of(argument, source):
        yield from _leaves(call, name, part)


def _with_leaves(
    argument: str, source: ValueSource, new: Mapping[str, StatedValue | Default | Picked]
) -> ValueSource:
    if not isinstance(source, Composed):
        return new.get(argument, source)
    parts = tuple(_with_leaves(name, part, new) for name, part in parts_of(argument, source))
    return source.with_changes(parts=parts)


def _value(argument: str, source: ValueSource, picked: Mapping[str, JsonValue]) -> JsonValue:
    if isinstance(source, Picked):
        return picked[argument]
    if not isinstance(source, Composed):
        return source.value
    return joined(source, [_value(name, part, picked) for name, part in parts_of(argument, source)])


def joined(source: Composed, values: Sequence[JsonValue]) -> JsonValue:
    """Return the value composed of these."""
    if source.shape == "object":
        return dict(zip(source.names, values, strict=True))
    return JOINT.join(map(as_text, values)) if source.shape == "joined" else [*values]


def pattern_of(argument: str) -> str:
    """Return a leaf's place as links name it: "legs[0].fromId" is a "legs[].fromId"."""
    return _INDEX.sub("[]", argument)


class KnownValues:
    """The values stated in a goal: as arguments, and as texts that conditions compare with."""

    def __init__(self, goal: Goal, links: Iterable[Link], tools: Iterable[Tool]) -> None:
        """Collect the values once; a parameter that a link feeds can't be stated."""
        self._linked = {(link.tool, link.parameter) for link in links}
        by_name = {tool.name: tool for tool in tools}
        self._named: dict[str, list[StatedValue | Default]] = {}
        self._by_kind: dict[Kind, list[StatedValue]] = {}
        for index, planned in enumerate(goal.calls):
            for leaf in leaves_of(index, planned.arguments):
                if isinstance(leaf.source, Picked):
                    for one in leaf.source.where:
                        if one.test in ("equals", "contains") and isinstance(one.value, str):
                            self._keep("text", StatedValue(value=one.value, element="text"))
                    continue
                self._named.setdefault(leaf.argument, []).append(leaf.source)
                tool = by_name.get(planned.tool)
                if (
                    isinstance(leaf.source, StatedValue)
                    and tool
                    and leaf.argument in tool.properties
                ):
                    self._keep(kind_of(tool.properties[leaf.argument]), leaf.source)

    def is_linked(self, tool: str, parameter: str) -> bool:
        """Whether a response gives this parameter its value."""
        return (tool, parameter) in self._linked

    def values_for(self, tool: Tool, parameter: str) -> list[StatedValue | Default]:
        """Return stated values that fit a parameter: of the same name, or else of the same kind."""
        schema = tool.properties[parameter]
        kind = kind_of(schema)
        texts = self.texts if kind == "text" else []
        if parameter in self._named:
            return _unique([*self._named[parameter], *texts])
        if kind == "enum":
            choices = choices_of(schema)
            return [
                stated
                for held in self._by_kind.values()
                for stated in held
                if stated.value in choices
            ]
        return _unique(
            texts or (self._by_kind.get(kind, []) if kind in ("date", "time", "date-time") else [])
        )

    @property
    def texts(self) -> list[StatedValue]:
        """The texts that were stated."""
        return self._by_kind.get("text", [])

    def _keep(self, kind: Kind, stated: StatedValue) -> None:
        held = self._by_kind.setdefault(kind, [])
        if stated.value not in [one.value for one in held]:
            held.append(stated)


def _unique(sources: Iterable[StatedValue | Default]) -> list[StatedValue | Default]:
    distinct: list[StatedValue | Default] = []
    for source in sources:
        if source.value not in [one.value for one in distinct]:
            distinct.append(source)
    return distinct


class NoEntryError(RecordError):
    """No entry meets the conditions of the picked value `source`; `entries` are the candidates."""

    def __init__(self, message: str, source: Picked, entries: list[Entry]) -> None:
        """Create the error with the data needed to choose another condition."""
        super().__init__(message)
        self.source, self.entries = source, entries


class PickedPlace(NamedTuple):
    """A picked leaf's origin: response `call` of `step`, `path`, `entry`, and `fitting` entries."""

    leaf: SourceLeaf
    step: int
    call: int
    path: str
    entry: int
    fitting: tuple[int, ...]
    source: Picked


class Resolved(NamedTuple):
    """A goal's path.

    `positions` has the step of each of the goal's calls, and its position in that step.
    """

    path: tuple[Exchange, ...]
    places: tuple[PickedPlace, ...]
    positions: tuple[tuple[int, int], ...]

    def call(self, index: int) -> Call:
        """Return the call made for a call of the goal."""
        step, position = self.positions[index]
        return self.path[step].calls[position]

    def response(self, index: int) -> JsonValue:
        """Return the response to a call of the goal."""
        step, position = self.positions[index]
        return self.path[step].responses[position]


async def resolve(goal: Goal, environment: Environment) -> Resolved:
    """Make the goal's calls, those of a step at once, taking the first entry that fits.

    Raises RecordError that says which value or response is missing and why.
    """
    steps = steps_of(goal)
    positions: dict[int, tuple[int, int]] = {}
    path: list[Exchange] = []
    places: list[PickedPlace] = []

    def pick(leaf: SourceLeaf, source: Picked) -> JsonValue:
        step, position = positions[source.call]
        exchange = path[step]
        found = entries_of(exchange.responses[position], source.entries)
        fitting = choose(found, source.where)
        if not fitting:
            raise NoEntryError(
                f"No entry of {source.entries or 'the response'!r} that"
                f" {exchange.calls[position].tool} returned meets the conditions for"
                f" {leaf.argument!r} of {goal.calls[leaf.call].tool}.",
                source,
                found,
            )
        entry, able = fitting[0], tuple(one.index for one in fitting)
        places.append(
            PickedPlace(
                leaf, step, position, join(entry.place, source.field), entry.index, able, source
            )
        )
        return shifted(value_at(entry.value, source.field), source.later_by)

    for step in range(max(steps) + 1):
        calls: list[Call] = []
        for index, planned in ((at, one) for at, one in enumerate(goal.calls) if steps[at] == step):
            leaves = leaves_of(index, planned.arguments)
            picked = {
                leaf.argument: pick(leaf, leaf.source)
                for leaf in leaves
                if isinstance(leaf.source, Picked)
            }
            call = Call(tool=planned.tool, arguments=values_of(planned.arguments, picked))
            if call not in calls:
                calls.append(call)
            positions[index] = (step, calls.index(call))
        responses: list[JsonValue] = []
        for call in calls:
            answer = await environment.answer(call)
            if answer.problem:
                raise RecordError(
                    f"The call of {call.tool} with {call.arguments!r} was not answered:"
                    f" {answer.problem}"
                )
            responses.append(answer.response)
        path.append(Exchange(calls=tuple(calls), responses=tuple(responses)))
    return Resolved(
        tuple(path), tuple(places), tuple(positions[index] for index in range(len(steps)))
    )


def steps_of(goal: Goal) -> list[int]:
    """Return the step of each call: one after the last call whose response it needs."""
    steps: list[int] = []
    for index, planned in enumerate(goal.calls):
        needed = {
            leaf.source.call
            for leaf in leaves_of(index, planned.arguments)
            if isinstance(leaf.source, Picked)
        }
        late = sorted(call for call in needed if call >= index)
        if late:
            raise RecordError(
                f"Call {index} ({planned.tool}) takes a value from call {late[0]}, which comes"
                " later."
            )
        steps.append(max((steps[call] + 1 for call in needed), default=0))
    return steps


class RememberedEnvironment(WrappedEnvironment):
    """An environment that is asked once per call, and whose responses lack struck entries."""

    def __init__(
        self, environment: Environment, recorded: Iterable[tuple[Call, JsonValue]] = ()
    ) -> None:
        """Answer the calls of `recorded` with their stored responses."""
        super().__init__(environment)
        self._answers = {call.key: CallResponse(response) for call, response in recorded}
        self._strikes: Mapping[str, Sequence[Strike]] = {}

    def struck(
        self, path: Sequence[Exchange], strikes: Sequence[Strike]
    ) -> "RememberedEnvironment":
        """Return the environment without the entries struck from responses to calls of `path`."""
        environment = RememberedEnvironment(self._environment)
        environment._answers = self._answers
        by_call: dict[str, list[Strike]] = {}
        for strike in strikes:
            by_call.setdefault(path[strike.step].calls[strike.call].key, []).append(strike)
        environment._strikes = by_call
        return environment

    async def answer(self, call: Call) -> CallResponse:
        """Return the response to a call without its struck entries; never raise."""
        key = call.key
        if key not in self._answers:
            self._answers[key] = await self._environment.answer(call)
        answer = self._answers[key]
        strikes = self._strikes.get(key)
        if strikes:
            return CallResponse(strike_out(answer.response, strikes), answer.problem)
        return answer


def strike_out(response: JsonValue, strikes: Sequence[Strike]) -> JsonValue:
    """Return a response without the struck entries; the rest is shared with the original."""
    by_list: dict[str, set[int]] = {}
    for strike in strikes:
        by_list.setdefault(strike.entries, set()).add(strike.entry)
    for entries, gone in by_list.items():
        held = value_at(response, entries)
        if isinstance(held, list):
            remaining: list[JsonValue] = [
                member for index, member in enumerate(held) if index not in gone
            ]
            pieces = [
                piece for piece in entries.replace("[", ".").replace("]", "").split(".") if piece
            ]
            response = _replaced(response, pieces, remaining)
    return response


def original_index(index: int, gone: Iterable[int]) -> int:
    """Return where the entry now at `index` stood before those of `gone` were struck."""
    for struck in sorted(gone):
        if struck <= index:
            index += 1
    return index


def _replaced(value: JsonValue, pieces: list[str], new: JsonValue) -> JsonValue:
    if not pieces:
        return new
    head, *rest = pieces
    if isinstance(value, dict):
        return {**value, head: _replaced(value[head], rest, new)}
    if isinstance(value, list):
        return [
            _replaced(one, rest, new) if index == int(head) else one
            for index, one in enumerate(value)
        ]
    return value
