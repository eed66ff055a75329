"""Episodes: runs in worlds that calls change.

A world is a pure function of its tools, a seed, and the calls so far. `world.begin()` starts an
episode, which alone keeps what calls change, as a small overlay over the world's first state:

    episode = world.begin(seed=7)
    start = episode.snapshot()
    episode.answer(Call(tool="cancel_order", arguments={"order_id": "b4Kf92"}))
    diff(start, episode.state)
        # (Change(sort="updated", kind="order", id="b4Kf92", field="status", before="open",
        after="cancelled"),)
    episode.restore(start)

- The same calls from the same state get the same answers and lead to the same state, in every
  process.
- Reads see what was written. A refused call (`CallResponse.problem`, with `error` as its code)
  changes nothing.
- States are values: never changed, shared between snapshots, and equal if `diff` finds nothing
  between them. To take a snapshot, restore it or compare two costs as much as what was written,
  not as much as the world.
- What a world generates (such as a new thing's id) depends on what was created, not on when:
  other orders of the same calls end in equal states. `unnamed` compares two final states where
  other calls created the same things, whatever the ids.
- A dropped episode leaves nothing behind.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

import orjson
from pydantic import BaseModel, JsonValue

from callwright.generators.environments.linking import IDENTIFYING, words_of
from callwright.generators.environments.protocol import CallResponse, Environment
from callwright.language.schemas import scalars
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import Call, Change, ErrorCode, Fault, Tool, content_key

Fields = Mapping[str, JsonValue]
_NOTHING: Mapping[str, int] = MappingProxyType({})
_SELF = "\0self"
_MADE = "\0made"
# counted where a fault is laid over a world: all calls, and those that the fault is about
_CALLS, _USES = "\0calls", "\0uses"


class RefusalError(RecordError):
    """A world refuses a call; the message says why."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        """Create a refusal; `error` is its code."""
        super().__init__(message)
        self.error = error


class ThingKey(NamedTuple):
    """Identifies a thing of a world by its kind ("order") and its id as text."""

    kind: str
    id: str


class Overlaid(NamedTuple):
    """How a thing differs from its first state, field by field.

    `before` is None for a thing that did not exist at first, `after` for one that is gone. For a
    thing that existed and still does, both have the fields that differ; a field that the thing
    lacks (or no longer has) is null.
    """

    before: Fields | None
    after: Fields | None


class WorldState(NamedTuple):
    """What calls have made of a world: changed things, and counters.

    `counters` say how many ids of each sort were given out, so that none is given twice; `clock`
    counts the calls answered.
    """

    things: Mapping[ThingKey, Overlaid] = MappingProxyType({})
    counters: Mapping[str, int] = _NOTHING
    clock: int = 0

    def with_thing(self, key: ThingKey, now: Overlaid) -> "WorldState":
        """Return the state with this change to a thing; a thing without changes is dropped."""
        things = {**self.things, key: now}
        if now.before == now.after and not now.after:
            del things[key]
        return self._replace(things=things)

    def counted(self, name: str) -> "WorldState":
        """Return the state with the counter of `name` increased by one."""
        return self._replace(counters={**self.counters, name: self.counters.get(name, 0) + 1})

    def dumped(self) -> JsonValue:
        """Return the state as JSON, which `loaded` reads."""
        things: list[JsonValue] = [
            [
                *key,
                None if one.before is None else {**one.before},
                None if one.after is None else {**one.after},
            ]
            for key, one in self.things.items()
        ]
        return {"things": things, "counters": {**self.counters}, "clock": self.clock}


START = WorldState()


def state_of(
    first: Mapping[ThingKey, Fields], now: Mapping[ThingKey, Fields], clock: int
) -> WorldState:
    """Return the state of a world whose things were `first` and are `now`."""
    things: dict[ThingKey, Overlaid] = {}
    for key in {**first, **now}:
        before, after = first.get(key), now.get(key)
        if before is not None and after is not None:
            differ = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            before, after = ({name: one.get(name) for name in differ} for one in (before, after))
        if before != after:
            things[key] = Overlaid(before, after)
    return WorldState(things, clock=clock)


class _Dumped(BaseModel):
    things: list[tuple[str, str, dict[str, JsonValue] | None, dict[str, JsonValue] | None]]
    counters: dict[str, int]
    clock: int


def loaded(dumped: JsonValue) -> WorldState:
    """Return the state that was dumped. Raises ValueError if it is not a state."""
    read = _Dumped.model_validate(dumped)
    things = {
        ThingKey(kind, id_): Overlaid(before, after) for kind, id_, before, after in read.things
    }
    return WorldState(things, read.counters, read.clock)


def diff(before: WorldState, after: WorldState) -> tuple[Change, ...]:
    """List the changes between two states by kind, id and field; none if their things are equal."""
    if before.things == after.things:
        return ()
    keys = sorted(
        key
        for key in before.things.keys() | after.things.keys()
        if before.things.get(key) != after.things.get(key)
    )
    return tuple(
        change
        for key in keys
        for change in _changes(key, before.things.get(key), after.things.get(key))
    )


def unnamed(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return sorted keys of changes without generated ids, so that equal results compare equal.

    References to created things, in fields that identify something (`order_id`), are replaced
    too.
    """
    listed = list(changes)
    created_changes = {one.id: one for one in listed if one.sort == "created"}
    labels = dict.fromkeys(created_changes, _MADE)
    for _ in range(2):  # the second time what refers to something made is told apart by that
        labels = {
            id_: content_key([one.kind, _relabelled(one.after, labels | {id_: _SELF})])
            for id_, one in created_changes.items()
        }
    keys = []
    for change in listed:
        known = {**labels, change.id: _SELF} if change.sort == "created" else labels
        values = [
            _relabelled(value, known, identifies=_identifies(change.field))
            for value in (change.before, change.after)
        ]
        keys.append(
            content_key(
                [change.kind, labels.get(change.id, change.id), change.sort, change.field, values]
            )
        )
    return tuple(sorted(keys))


def _relabelled(
    value: JsonValue, labels: Mapping[str, str], *, identifies: bool = False
) -> JsonValue:
    """Replace ids by labels, but only in identifying fields: 7 may also be a number of books."""
    if isinstance(value, dict):
        return {
            name: _relabelled(one, labels, identifies=_identifies(name))
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [_relabelled(one, labels, identifies=identifies) for one in value]
    return labels.get(str(value), value) if identifies and isinstance(value, str | int) else value


def _identifies(name: str) -> bool:
    return bool(IDENTIFYING & set(words_of(name)[-1:]))


def _changes(key: ThingKey, earlier: Overlaid | None, later: Overlaid | None) -> Iterator[Change]:
    """Yield one thing's changes; a state without it has the original unless it was created."""
    first = [one.before for one in (earlier, later) if one and one.before is not None]
    untouched: Fields | None = {} if first else None
    was, now = (one.after if one else untouched for one in (earlier, later))
    if was is None and now is not None:
        yield Change(sort="created", kind=key.kind, id=key.id, after={**now})
    elif was is not None and now is None:
        known_fields = next(filter(None, reversed(first)), {})
        yield Change(sort="deleted", kind=key.kind, id=key.id, before={**known_fields, **was})
    elif was is not None and now is not None:
        known_fields = {name: value for one in first for name, value in one.items()}
        for field in sorted({*was, *now}):
            before, after = (one.get(field, known_fields.get(field)) for one in (was, now))
            if before != after:
                yield Change(
                    sort="updated",
                    kind=key.kind,
                    id=key.id,
                    field=field,
                    before=before,
                    after=after,
                )


class WorldEpisode(Protocol):
    """One run in a world."""

    @property
    def state(self) -> WorldState:
        """The state of the world after the calls so far."""

    def answer(self, call: Call) -> CallResponse:
        """Return the response, never raise; apply what the call writes to `state`."""

    def snapshot(self) -> WorldState:
        """Return the current state, which `restore` accepts."""
        return self.state

    def restore(self, snapshot: WorldState) -> None:
        """Return to exactly an earlier state of this world."""


@runtime_checkable
class StatefulWorld(Protocol):
    """A world that calls change.

    Environments that are also worlds `answer` as a new episode does, or say how they differ.
    """

    @property
    def name(self) -> str:
        """The name in recipes and samples."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools of the environment."""

    @property
    def seed(self) -> int:
        """The seed of the first state, if an episode names no other."""

    @property
    def unclear(self) -> Sequence[str]:
        """The tools whose effect is unknown; they are taken to change nothing."""

    def begin(self, seed: int | None = None) -> WorldEpisode:
        """Begin an episode; `seed` determines the first state, by default the world's own seed."""

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool can change the world."""


def is_changeable(environment: Environment | StatefulWorld) -> bool:
    """Whether calls can change an environment's answers, so that it has a world."""
    return isinstance(getattr(environment, "inner", environment), StatefulWorld)


def world_of(environment: Environment | StatefulWorld) -> StatefulWorld:
    """Return the world behind a recipe's environment, even if a store wraps it.

    Raises ConfigurationError if calls can't change it: a server keeps its own state, and a
    recording has none.
    """
    within = getattr(environment, "inner", environment)
    if not isinstance(within, StatefulWorld):
        raise ConfigurationError(
            f"The environment {environment.name!r} has no state that episodes could begin with;"
            " simulate its document."
        )
    return within


class FaultyWorld:
    """A world with a fault on top (`StatefulWorld`), which depends on the fault and calls only.

    A fault occurs in whichever order calls are made. A tool fails at the same use of it as in the
    gold: the first, if the gold did not use it before. An id is outdated from the search that
    gives it until a call uses it. A thing is gone once a call is to change it. What calls have
    met is part of an episode's state, so snapshots include it. What this layer answers changes
    nothing in the world below.
    """

    def __init__(self, world: StatefulWorld, fault: Fault) -> None:
        self.name, self.tools, self.seed, self.unclear = (
            world.name,
            world.tools,
            world.seed,
            world.unclear,
        )
        self._world, self.fault = world, fault
        before = fault.source.all_calls[: fault.at]
        self.earlier_uses = sum(one.tool == fault.call.tool for one in before if fault.call)

    def begin(self, seed: int | None = None) -> "FaultyEpisode":
        """Begin an episode in which nothing has gone wrong yet."""
        return FaultyEpisode(self._world.begin(seed), self)

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool can change the world."""
        return self._world.writes(tool)


class FaultyEpisode(WorldEpisode):
    """An episode in which a fault occurs."""

    def __init__(self, episode: WorldEpisode, world: FaultyWorld) -> None:
        self._episode, self._world, self._fault = episode, world, world.fault

    @property
    def state(self) -> WorldState:
        """The state of the world after the calls so far."""
        return self._episode.state

    def snapshot(self) -> WorldState:
        """Return the current state, which `restore` accepts."""
        return self._episode.snapshot()

    def restore(self, snapshot: WorldState) -> None:
        """Return to an earlier state of this world and of what calls have met."""
        self._episode.restore(snapshot)

    def answer(self, call: Call) -> CallResponse:
        """Return the response to a call, or the fault in its place."""
        counters = self.state.counters
        answered = self._answered(call, counters.get(_CALLS, 0), counters.get(_USES, 0))
        self._count(_CALLS)
        if self._uses(call):
            self._count(_USES)
        return answered

    def _count(self, name: str) -> None:
        self._episode.restore(self._episode.snapshot().counted(name))

    def _uses(self, call: Call) -> bool:
        """Whether a call is one at which the fault may occur, or after which it is over."""
        fault = self._fault
        match fault.sort:
            case "gone":
                return self._world.writes(call.tool) and is_in(fault.value, call.arguments)
            case "stale_id":
                return is_in(fault.instead, call.arguments)
            case _:
                return fault.call is not None and call.tool == fault.call.tool

    def _answered(self, call: Call, calls: int, uses: int) -> CallResponse:
        """Return the response to a call; before it `calls` were made, `uses` of them matter."""
        fault, ask = self._fault, self._episode.answer
        refused = CallResponse(fault.told, problem=orjson.dumps(fault.told).decode())
        is_its_use = self._uses(call) and uses >= self._world.earlier_uses
        match fault.sort:
            case "injected" | "delegated" | "harmless" if fault.field:
                return self._told_otherwise(ask(call), fault.field)
            case "timeout" | "unsure" if is_its_use and uses == self._world.earlier_uses:
                if fault.takes_effect:
                    ask(call)
                return refused._replace(passing=True)
            case "unavailable" if is_its_use:
                return refused
            case "gone" if uses or self._uses(call):
                if is_in(fault.value, call.arguments):
                    return refused
                answered = ask(call)
                return answered._replace(response=_without(answered.response, fault.value))
            case "stale_id" if calls >= fault.at and not uses:
                return self._told_otherwise(ask(call))
        return ask(call)

    def _told_otherwise(self, answered: CallResponse, field: str = "") -> CallResponse:
        """Return the response with the fault's value replaced, in `field` or everywhere."""
        old, new = self._fault.value, self._fault.instead
        found = replaced(
            answered.response, lambda one, name: new if one == old and field in ("", name) else one
        )
        return answered._replace(response=found)


def replaced(
    value: JsonValue, replace: Callable[[JsonValue, str], JsonValue], field: str = ""
) -> JsonValue:
    """Return a JSON value with each scalar replaced, given its value and the field it is in."""
    if isinstance(value, dict):
        return {name: replaced(member, replace, name) for name, member in value.items()}
    if isinstance(value, list):
        return [replaced(member, replace, field) for member in value]
    return replace(value, field)


def is_in(wanted: JsonValue, value: JsonValue) -> bool:
    """Whether a JSON value equals or contains another; numbers equal their text, as with ids."""
    return any(str(one) == str(wanted) for one in scalars(value) if not isinstance(one, bool))


def _without(value: JsonValue, gone: JsonValue) -> JsonValue:
    """Return a JSON value whose lists lack the entries that `gone` contains."""
    if isinstance(value, dict):
        return {name: _without(member, gone) for name, member in value.items()}
    if isinstance(value, list):
        return [_without(member, gone) for member in value if not is_in(gone, member)]
    return value
