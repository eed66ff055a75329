"""What a user can say to an environment of recorded responses: the values of calls that are known to be answered."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from generators.environments.exploring import stated_values, values_of_parameter
from generators.environments.naming import words_of
from warehouse.records import Call, JsonSchema, Link, Tool
from warehouse.records.paths import ElementKind

if TYPE_CHECKING:
    from generators.multi_step.vocabularies import Wish

MOST_EXAMPLES = 8
_FORMATS: Mapping[str, ElementKind] = {"date": "date", "time": "time", "uuid": "identifier", "date-time": "time"}
_WORDS: Mapping[str, ElementKind] = {
    "city": "city", "airport": "airport", "hotel": "hotel", "company": "company", "person": "person", "user": "person",
    "sort": "sort", "language": "language", "currency": "currency", "price": "price", "amount": "price",
}  # fmt: skip


class Sayable(NamedTuple):
    """What is known of an environment's parameters: what each is about, and calls whose values can be said."""

    elements: Mapping[tuple[str, str], ElementKind]
    calls: Mapping[str, tuple[Call, ...]]

    def element(self, tool: str, parameter: str) -> ElementKind:
        """What a parameter is about; what only a response can give is an "identifier"."""
        return self.elements.get((tool, parameter), "text")

    def trip(self, rng: Random) -> "SeenTrip":
        """Values that go together: those of one call of each tool."""
        return SeenTrip(self.calls, rng)


class SeenTrip:
    """The values of one goal: of each tool one call that is known to be answered."""

    def __init__(self, calls: Mapping[str, Sequence[Call]], rng: Random) -> None:
        """Choose for each tool, in the order of names, so that the same seed chooses alike."""
        self._chosen = {tool: rng.choice(calls[tool]) for tool in sorted(calls) if calls[tool]}

    def say(self, wish: "Wish") -> JsonValue | None:
        """The value that the chosen call has, else the first that the schema names; None where there is neither."""
        call = self._chosen.get(wish.tool)
        seen = list(values_of_parameter(call.arguments, wish.parameter)) if call else []
        return next(iter(seen or stated_values(wish.schema)), None)


def sayable_from_responses(tools: Iterable[Tool], links: Iterable[Link], calls: Iterable[Call]) -> Sayable:
    """What people can say, from the calls that were answered; what a link gives is not said."""
    linked = {(link.tool, link.parameter.partition(".")[0].removesuffix("[]")) for link in links}
    elements = {
        (tool.name, name): "identifier" if (tool.name, name) in linked else element_of(name, schema)
        for tool in tools
        for name, schema in tool.properties.items()
    }
    by_tool: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        if call.arguments:
            by_tool[call.tool].append(call)
    return Sayable(elements, {tool: tuple(found) for tool, found in by_tool.items()})


def element_of(name: str, schema: JsonSchema) -> ElementKind:
    """What a parameter is about, told from its schema and its name."""
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    known = next((_WORDS[word] for word in words_of(name) if word in _WORDS), None)
    if known is not None:
        return known
    if schema.get("type") == "boolean":
        return "flag"
    if schema.get("enum"):
        return "filter"
    if schema.get("type") in ("integer", "number"):
        return "count"
    return "keyword" if schema.get("examples") else "text"


def with_examples(tools: Iterable[Tool], links: Iterable[Link], calls: Sequence[Call]) -> tuple[Tool, ...]:
    """The tools, each text that people say with values that were seen as its `examples`."""
    linked = {(link.tool, link.parameter) for link in links}
    return tuple(_with_examples(tool, {name for owner, name in linked if owner == tool.name}, calls) for tool in tools)


def _with_examples(tool: Tool, linked: set[str], calls: Sequence[Call]) -> Tool:
    properties = dict(tool.properties)
    for name, schema in tool.properties.items():
        said = [call.arguments[name] for call in calls if call.tool == tool.name and name in call.arguments]
        seen = list(dict.fromkeys(value for value in said if isinstance(value, str)))[:MOST_EXAMPLES]
        if seen and name not in linked and not (schema.get("enum") or schema.get("examples") or "format" in schema):
            properties[name] = {**schema, "examples": seen}
    return tool.with_changes(parameters={**tool.parameters, "properties": properties})
