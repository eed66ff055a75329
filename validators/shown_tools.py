"""Tools under other names and words: how a candidate is shown them, and what its calls are in
the names that the gold has.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, JsonValue

from callwright.warehouse.records import (
    Call,
    CallTurn,
    Exchange,
    GoldCall,
    Record,
    Sample,
    Tool,
    Turn,
)

_UNSHOWN = (  # what nobody was shown is no gold name, whatever a candidate remembers
    "{} (its former name)"
)
_IN_ALL = ("allOf", "anyOf", "oneOf")
_IN_ONE = ("if", "then", "else", "not")
_HASH = 8


class NamedCall(NamedTuple):
    """A call by the names of one side; its arguments are whatever was given for them."""

    tool: str
    arguments: JsonValue


class ShownTools(Record):
    """Tools of a release as candidates are shown them in place of what they are there, by their
    keys there.

    `names` are the other names of tools, `parameters` those of their parameters by the tools' names
    in the release; what has no other name stands in neither. `name` is what all of it is called.
    All metrics see the names of the release only.
    """

    UNKEYED: ClassVar[frozenset[str]] = frozenset({"name"})

    name: str = ""
    tools: dict[str, Tool] = Field(default_factory=dict)
    names: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, dict[str, str]] = Field(default_factory=dict)

    @cached_property
    def label(self) -> str:
        """What tells answers to these tools apart from those to others: name and hash, "" where
        nothing is changed.
        """
        return f"{self.name}@{self.key[:_HASH]}" if self.tools else ""

    def toolset(self, tools: Iterable[Tool]) -> list[Tool]:
        """The tools as they are shown."""
        return [self.tools.get(tool.key, tool) for tool in tools]

    def show(self, tool: str, arguments: JsonValue) -> NamedCall:
        """A call of the release in the names that are shown."""
        return NamedCall(
            self.names.get(tool, tool), _renamed(arguments, self.parameters.get(tool, {}))
        )

    def read(self, tool: str, arguments: JsonValue) -> NamedCall:
        """A candidate's call in the names of the release; a name that is not shown any more is
        none of them.
        """
        named = _back(self.names).get(tool, tool)
        return NamedCall(named, _renamed(arguments, _back(self.parameters.get(named, {}))))

    def sample(self, sample: Sample) -> Sample:
        """A sample whose calls have the names that are shown."""
        if not (self.names or self.parameters):
            return sample
        return sample.with_changes(turns=tuple(map(self._turn, sample.turns)))

    def exchange(self, exchange: Exchange) -> Exchange:
        """A step of a run with the names that are shown."""
        calls = tuple(
            Call.model_construct(**self.show(one.tool, one.arguments)._asdict())
            for one in exchange.calls
        )
        return exchange.model_copy(update={"calls": calls}) if calls else exchange

    def _turn(self, turn: Turn) -> Turn:
        if not isinstance(turn, CallTurn):
            return turn
        calls = (
            GoldCall.model_construct(**self.show(one.tool, one.arguments)._asdict())
            for one in turn.calls
        )
        return CallTurn.model_construct(kind="calls", calls=tuple(calls), executed=turn.executed)


AS_THEY_ARE = ShownTools()


def with_names(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """An object schema whose properties have other names, wherever it speaks of them."""
    made = dict(schema)
    if isinstance(schema.get("properties"), dict):
        made["properties"] = _renamed(schema["properties"], names)
    if isinstance(schema.get("required"), list):
        made["required"] = [names.get(one, one) for one in schema["required"]]
    if isinstance(schema.get("dependentRequired"), dict):
        made["dependentRequired"] = {
            names.get(name, name): [names.get(one, one) for one in needed]
            for name, needed in schema["dependentRequired"].items()
        }
    for word in _IN_ALL:
        if isinstance(schema.get(word), list):
            made[word] = [
                with_names(one, names) if isinstance(one, dict) else one for one in schema[word]
            ]
    made |= {
        word: with_names(schema[word], names)
        for word in _IN_ONE
        if isinstance(schema.get(word), dict)
    }
    return made


def _renamed(members: JsonValue, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON, of the form that it had
    return (
        {names.get(name, name): one for name, one in members.items()}
        if isinstance(members, dict)
        else members
    )


def _back(names: Mapping[str, str]) -> dict[str, str]:
    """From the names that are shown to those of the release, and from those that are not shown
    any more to none at all.
    """
    gone = {name: _UNSHOWN.format(name) for name in names}
    return gone | {shown: name for name, shown in names.items()}
