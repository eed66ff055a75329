"""The sources of a call's arguments: each leaf by where it stands, leaves replaced, and the values that they give."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue

from warehouse.errors import RecordError
from warehouse.records import Arguments, Composed, Default, Picked, Said, ValueSource

JOINT = ","


class Leaf(NamedTuple):
    """A source that is not composed, and where it stands: goal call `call`, argument path "legs[0].fromId"."""

    call: int
    argument: str
    source: Said | Default | Picked


def leaves_of(call: int, arguments: Mapping[str, ValueSource]) -> list[Leaf]:
    """Every source of a call's arguments that is not composed of others."""
    return [leaf for name, source in arguments.items() for leaf in _leaves(call, name, source)]


def with_leaves(
    arguments: Mapping[str, ValueSource], new: Mapping[str, Said | Default | Picked]
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


def _leaves(call: int, argument: str, source: ValueSource) -> Iterator[Leaf]:
    if not isinstance(source, Composed):
        yield Leaf(call, argument, source)
        return
    for name, part in parts_of(argument, source):
        yield from _leaves(call, name, part)


def _with_leaves(argument: str, source: ValueSource, new: Mapping[str, Said | Default | Picked]) -> ValueSource:
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
