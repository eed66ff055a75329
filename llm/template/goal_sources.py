"""Sources of arguments in several steps: which entry is picked, and which calls come next."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Any, NamedTuple, Union

import orjson
from pydantic import JsonValue

from callwright.language.calls.entries import name_paths, named, read_rank, text_at, value_in
from callwright.language.text import fold
from callwright.llm.template.goal_tools import Rule


class KnownValue(NamedTuple):
    """A value that was stated, or that the schema gives."""

    value: JsonValue


class Unknown(NamedTuple):
    """A value that the request leaves open: the person can be asked for one of these parameters."""

    parameters: tuple[str, ...]


class FromEntry(NamedTuple):
    """The `field` of the entry of `entries` that the rules select, in the response to a call."""

    node: "Node"
    entries: str
    field: str
    rules: tuple[Rule, ...]
    later_by: int = 0


class Parts(NamedTuple):
    """Several values in one: a list, or a text of them joined by a comma."""

    parts: "tuple[Source, ...]"
    is_text: bool


class Members(NamedTuple):
    """An object with a source for each of its members."""

    members: "Mapping[str, Source]"


Source = Union[KnownValue, Unknown, FromEntry, Parts, Members]  # noqa: UP007 - a forward reference in it


class Node(NamedTuple):
    """A call to make once its sources are known."""

    tool: str
    sources: Mapping[str, Source]


def entries_in(sources: Iterable[Source]) -> Iterator[FromEntry]:
    """Yield the entries from which the sources take a value."""
    for source in sources:
        if isinstance(source, FromEntry):
            yield source
        elif not isinstance(source, KnownValue | Unknown):
            yield from entries_in(
                source.parts if isinstance(source, Parts) else source.members.values()
            )


def with_givers(node: Node) -> Iterator[Node]:
    """Yield the calls that a call depends on, each after its own dependencies, then the call."""
    for entry in entries_in(node.sources.values()):
        yield from with_givers(entry.node)
    yield node


Made = Mapping[bytes, JsonValue]


def due_calls(nodes: Sequence[Node], made: Made) -> list[tuple[str, dict[str, JsonValue]]]:
    """Return the calls to make after those `made`, which are by name with their results."""
    calls: list[tuple[str, dict[str, JsonValue]]] = []
    for node in nodes:
        try:
            call = (node.tool, _values(node.sources, made))
        except _UnknownError:
            continue
        if made_name(*call) not in made and call not in calls:
            calls.append(call)
    return calls


def made_name(tool: str, arguments: JsonValue) -> bytes:
    """Return the key of a call in the table of calls already made."""
    return orjson.dumps([tool, arguments], option=orjson.OPT_SORT_KEYS)


class _UnknownError(Exception):
    """A value that no response provides."""


def _values(sources: Mapping[str, Source], made: Made) -> dict[str, JsonValue]:
    return {name: _value(source, made) for name, source in sources.items()}


def _value(source: Source, made: Made) -> JsonValue:
    match source:
        case KnownValue(value=value):
            return value
        case Unknown():
            raise _UnknownError
        case FromEntry():
            return _value_of_entry(source, made)
        case Members(members=members):
            return _values(members, made)
        case Parts(parts=parts, is_text=is_text):
            values = [_value(part, made) for part in parts]
            return ",".join(map(str, values)) if is_text else values


def _value_of_entry(source: FromEntry, made: Made) -> JsonValue:
    arguments = _values(source.node.sources, made)
    name = made_name(source.node.tool, arguments)
    if name not in made:
        raise _UnknownError
    held = value_in(made[name], source.entries) if source.entries else _unwrapped(made[name])
    entries = [
        one
        for one in (held if isinstance(held, list) else [held])
        if _field_in(one, source.field) is not None
    ]
    # what a look-up finds is called by what was looked up
    rules = [
        one._replace(text=str(next(iter(arguments.values())))) if one.kind == "query" else one
        for one in source.rules
    ]
    entry = pick(entries, rules)
    if entry is None:
        raise _UnknownError
    value = _field_in(entry, source.field)
    return _later(value, source.later_by) if source.later_by else value


def _unwrapped(response: JsonValue) -> JsonValue:
    """Return the only list that a response without an id of its own holds, else the response."""
    if not isinstance(response, dict) or _field_in(response, "id") is not None:
        return response
    lists = [one for one in response.values() if isinstance(one, list)]
    return lists[0] if len(lists) == 1 else response


def _field_in(entry: JsonValue, field: str) -> JsonValue:
    """Return a field of an entry; where it has no `id`, its first field that ends in `_id`."""
    value = value_in(entry, field)
    if value is not None or field != "id" or not isinstance(entry, dict):
        return value
    return next((one for name, one in entry.items() if name.endswith("_id")), None)


def _later(value: JsonValue, minutes: int) -> JsonValue:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise _UnknownError from error
    separator = "T" if "T" in str(value) else " "
    later = moment + timedelta(minutes=minutes)
    timespec = "seconds" if str(value).count(":") > 1 else "minutes"
    return later.isoformat(sep=separator, timespec=timespec)


def pick(entries: Sequence[JsonValue], rules: Sequence[Rule]) -> JsonValue | None:
    """Return the entry that the rules select, or None if there is none."""
    left = reduce(_left, rules, list(entries))
    return left[0] if left else None


def _left(entries: list[JsonValue], rule: Rule) -> list[JsonValue]:
    if not entries or rule.kind == "only":
        return entries
    if rule.kind == "contains":
        paths = name_paths(entries)
        return [
            entry
            for entry in entries
            if any(fold(rule.text) in fold(text_at(entry, path)) for path in paths)
        ]
    if rule.kind in {"called", "query"}:
        found = named(entries, rule.text)
        return [entries[found[0]]] if found else (entries[:1] if rule.kind == "query" else [])
    ranked = read_rank(rule.text, entries[0])
    return _best(entries, *ranked) if ranked else []


def _best(entries: list[JsonValue], test: str, path: str) -> list[JsonValue]:
    """Return the entries with the best number at a path, or the best text if there is no number."""
    ranked_pairs = [(value_in(entry, path), entry) for entry in entries]
    numbers = [
        one
        for one in ranked_pairs
        if isinstance(one[0], int | float) and not isinstance(one[0], bool)
    ]
    ranked: list[tuple[Any, JsonValue]] = numbers or [
        one for one in ranked_pairs if isinstance(one[0], str)
    ]
    best = (min if test in {"lowest", "earliest"} else max)(
        (value for value, _ in ranked), default=None
    )
    return [entry for value, entry in ranked if value == best]
