"""The sources of a call's arguments: each leaf by where it stands, leaves replaced, and the values that they give."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.schemas import Kind, choices_of, kind_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    Composed,
    Default,
    Goal,
    Link,
    Picked,
    StatedValue,
    Tool,
    ValueSource,
)

JOINT = ","
_INDEX = re.compile(r"\[\d+\]")


class SourceLeaf(NamedTuple):
    """A source that is not composed, and where it stands: goal call `call`, argument path "legs[0].fromId"."""

    call: int
    argument: str
    source: StatedValue | Default | Picked


def leaves_of(call: int, arguments: Mapping[str, ValueSource]) -> list[SourceLeaf]:
    """Every source of a call's arguments that is not composed of others."""
    return [leaf for name, source in arguments.items() for leaf in _leaves(call, name, source)]


def with_leaves(
    arguments: Mapping[str, ValueSource], new: Mapping[str, StatedValue | Default | Picked]
) -> dict[str, ValueSource]:
    """The same arguments with another source for each leaf that `new` names."""
    return {name: _with_leaves(name, source, new) for name, source in arguments.items()}


def values_of(arguments: Mapping[str, ValueSource], picked: Mapping[str, JsonValue]) -> Arguments:
    """The arguments as a call has them; `picked` holds the value of every leaf that is picked."""
    return {name: _value(name, source, picked) for name, source in arguments.items()}


def shifted(value: JsonValue, minutes: int) -> JsonValue:
    """A date and time so many minutes later, in the form it came in; with 0 any value as it is."""
    if not minutes:
        return value
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise RecordError(f"{value!r} is no date and time, so it can't be {minutes} minutes later.") from error
    later = moment + timedelta(minutes=minutes)
    with_seconds = str(value).count(":") > 1
    return later.isoformat(sep="T" if "T" in str(value) else " ", timespec="seconds" if with_seconds else "minutes")


def as_text(value: JsonValue) -> str:
    """A value as a text that is joined with others has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parts_of(argument: str, source: Composed) -> Iterator[tuple[str, ValueSource]]:
    """The parts of a composed value by where they stand."""
    for index, part in enumerate(source.parts):
        yield argument + (f".{source.names[index]}" if source.shape == "object" else f"[{index}]"), part


def _leaves(call: int, argument: str, source: ValueSource) -> Iterator[SourceLeaf]:
    if not isinstance(source, Composed):
        yield SourceLeaf(call, argument, source)
        return
    for name, part in parts_of(argument, source):
        yield from _leaves(call, name, part)


def _with_leaves(argument: str, source: ValueSource, new: Mapping[str, StatedValue | Default | Picked]) -> ValueSource:
    if not isinstance(source, Composed):
        return new.get(argument, source)
    parts = tuple(_with_leaves(name, part, new) for name, part in parts_of(argument, source))
    return source.with_changes(parts=parts)


def _value(argument: str, source: ValueSource, picked: Mapping[str, JsonValue]) -> JsonValue:
    if isinstance(source, Picked):
        return picked[argument]
    if not isinstance(source, Composed):
        return source.value
    values = [_value(name, part, picked) for name, part in parts_of(argument, source)]
    if source.shape == "object":
        return dict(zip(source.names, values, strict=True))
    return JOINT.join(map(as_text, values)) if source.shape == "joined" else values


def pattern_of(argument: str) -> str:
    """The place of a leaf as links name it: "legs[0].fromId" is a "legs[].fromId"."""
    return _INDEX.sub("[]", argument)


class KnownValues:
    """The values said in a goal: as arguments, and as texts that conditions compare with."""

    def __init__(self, goal: Goal, links: Iterable[Link], tools: Iterable[Tool]) -> None:
        """Read all of it once; a parameter that a link feeds can't be stated."""
        self._linked = {(link.tool, link.parameter) for link in links}
        by_name = {tool.name: tool for tool in tools}
        self._named: dict[str, list[StatedValue | Default]] = {}
        self._by_kind: dict[Kind, list[StatedValue]] = {}
        for index, planned in enumerate(goal.calls):
            for leaf in leaves_of(index, planned.arguments):
                if isinstance(leaf.source, Picked):
                    self._keep_all(_rendered(leaf.source))
                    continue
                self._named.setdefault(leaf.argument, []).append(leaf.source)
                tool = by_name.get(planned.tool)
                if isinstance(leaf.source, StatedValue) and tool and leaf.argument in tool.properties:
                    self._keep(kind_of(tool.properties[leaf.argument]), leaf.source)

    def is_linked(self, tool: str, parameter: str) -> bool:
        """Whether some response gives this parameter its value."""
        return (tool, parameter) in self._linked

    def values_for(self, tool: Tool, parameter: str) -> list[StatedValue | Default]:
        """What the user said that this parameter can take: for one of the same name, else for one of the same kind."""
        schema = tool.properties[parameter]
        kind = kind_of(schema)
        texts = self.texts if kind == "text" else []
        if parameter in self._named:
            return _unique([*self._named[parameter], *texts])
        if kind == "enum":
            choices = choices_of(schema)
            return [stated for held in self._by_kind.values() for stated in held if stated.value in choices]
        return _unique(texts or (self._by_kind.get(kind, []) if kind in ("date", "time", "date-time") else []))

    @property
    def texts(self) -> list[StatedValue]:
        """Every text that was stated."""
        return self._by_kind.get("text", [])

    def _keep_all(self, texts: Iterable[StatedValue]) -> None:
        for stated in texts:
            self._keep("text", stated)

    def _keep(self, kind: Kind, stated: StatedValue) -> None:
        held = self._by_kind.setdefault(kind, [])
        if stated.value not in [one.value for one in held]:
            held.append(stated)


def _rendered(picked: Picked) -> Iterator[StatedValue]:
    for condition in picked.where:
        if condition.test in ("equals", "contains") and isinstance(condition.value, str):
            yield StatedValue(value=condition.value, element="text")


def _unique(sources: Iterable[StatedValue | Default]) -> list[StatedValue | Default]:
    found: list[StatedValue | Default] = []
    for source in sources:
        if source.value not in [one.value for one in found]:
            found.append(source)
    return found
