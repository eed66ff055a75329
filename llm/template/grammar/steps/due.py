"""Which calls of a request in steps are due next: those whose values are known by now, less those that were made."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.language.calls.entries import value_in
from callwright.llm.template.grammar.steps.sources import FromEntry, KnownValue, Node, Parts, Rule, Source, pick

_JOINT = ","


class _Unknown(NamedTuple):
    """A value that no response gives; `hopeless` where waiting won't help."""

    hopeless: bool


Made = Mapping[bytes, JsonValue]


def due_calls(nodes: Sequence[Node], made: Made) -> list[tuple[str, dict[str, JsonValue]]]:
    """The calls to make at once after those `made`, which are given by name with what they returned."""
    return _DueCalls(nodes, made).due()


def made_name(tool: str, arguments: JsonValue) -> bytes:
    """The name of a call among those made."""
    return orjson.dumps([tool, arguments], option=orjson.OPT_SORT_KEYS)


class _DueCalls:
    def __init__(self, nodes: Sequence[Node], made: Made) -> None:
        self._nodes, self._made = nodes, made
        self._responses: dict[int, JsonValue] = {}

    def due(self) -> list[tuple[str, dict[str, JsonValue]]]:
        calls: list[tuple[str, dict[str, JsonValue]]] = []
        for at, node in enumerate(self._nodes):
            values = {name: self._value(source) for name, source in node.sources.items()}
            if any(isinstance(value, _Unknown) for value in values.values()):
                continue
            arguments: dict[str, JsonValue] = {
                name: value for name, value in values.items() if not isinstance(value, _Unknown)
            }
            name = made_name(node.tool, arguments)
            if name in self._made:
                self._responses[at] = self._made[name]
            elif (node.tool, arguments) not in calls:
                calls.append((node.tool, arguments))
        return calls

    def _value(self, source: Source) -> JsonValue | _Unknown:
        match source:
            case KnownValue(value=value):
                return value
            case FromEntry():
                return self._entry(source)
            case Parts():
                return self._parts(source)

    def _entry(self, source: FromEntry) -> JsonValue | _Unknown:
        if source.node not in self._responses:
            return _Unknown(hopeless=False)
        held = (
            value_in(self._responses[source.node], source.entries) if source.entries else self._responses[source.node]
        )
        entries = held if isinstance(held, list) else [held]
        able = [entry for entry in entries if value_in(entry, source.field) is not None]
        entry = pick(able, self._rules(source))
        value = value_in(entry, source.field) if entry is not None else None
        if value is None:
            return _Unknown(hopeless=True)
        return _later(value, source.later_by) if source.later_by else value

    def _rules(self, source: FromEntry) -> tuple[Rule, ...]:
        """A look-up whose words came out of a response is read by what was looked up."""
        if source.rules != (Rule("query", ""),):
            return source.rules
        query = next(iter(self._nodes[source.node].sources.values()))
        words = self._value(query)
        return (Rule("query", str(words)),) if not isinstance(words, _Unknown) else source.rules

    def _parts(self, source: Parts) -> JsonValue | _Unknown:
        values = [self._value(part) for part in source.parts]
        unknown = next((value for value in values if isinstance(value, _Unknown)), None)
        if unknown is not None:
            return unknown
        known: list[JsonValue] = [value for value in values if not isinstance(value, _Unknown)]
        if source.shape == "object":
            return dict(zip(source.names, known, strict=True))
        return _JOINT.join(map(str, known)) if source.shape == "joined" else known


def _later(value: JsonValue, minutes: int) -> JsonValue | _Unknown:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return _Unknown(hopeless=True)
    separator = "T" if "T" in str(value) else " "
    later = moment + timedelta(minutes=minutes)
    return later.isoformat(sep=separator, timespec="seconds" if str(value).count(":") > 1 else "minutes")
