"""Exploring an environment: calls that are known to be answered, and the values that a user can say in them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import entries_of, has, value_at
from callwright.generators.environments.protocol import Environment
from callwright.warehouse.records import Arguments, Call, JsonSchema, Link, Tool

ROUNDS = 4
VALUES = 6  # of each required parameter that are tried
FEWER_VALUES = 2  # of each other
MOST_CALLS = 600
MOST_EXAMPLES = 8


class Example(NamedTuple):
    """A call that was answered, and the response."""

    call: Call
    response: JsonValue


class Exploration(NamedTuple):
    """The calls that were answered, by tool, and the links that answered calls bear out."""

    examples: Mapping[str, tuple[Example, ...]]
    links: tuple[Link, ...]
    problems: tuple[str, ...]


async def explore(
    environment: Environment, links: Sequence[Link], *, wanted: Collection[str] = (), most: int = MOST_CALLS
) -> Exploration:
    """Ask at most `most` calls, in an order that depends on the tools, the links and the answers only.

    Where tools are `wanted`, the others are asked for the values that they give to these, and no more.
    """
    walk = _Walk(environment, links, wanted)
    for _ in range(ROUNDS):
        await walk.ask_all(walk.bare_calls(), most)
    await walk.ask_all(walk.fuller_calls(), most)
    examples = {tool: tuple(found) for tool, found in walk.examples.items()}
    return Exploration(examples, tuple(link for link in links if is_borne_out(link, examples)), tuple(walk.problems))


def is_borne_out(link: Link, examples: Mapping[str, Sequence[Example]]) -> bool:
    """Whether a value that the link names was used in a call that brought something."""
    values = {_key(value) for value in values_at(link, examples.get(link.source, ()))}
    return any(
        _key(used) in values
        for example in examples.get(link.tool, ())
        if example.response not in (None, [], {}, 0)
        for used in values_of_parameter(example.call.arguments, link.parameter)
    )


def values_at(link: Link, examples: Iterable[Example]) -> Iterator[JsonValue]:
    """The plain values that a link names in these responses."""
    for example in examples:
        if link.entries and not has(example.response, link.entries):
            continue
        for entry in entries_of(example.response, link.entries):
            value = value_at(entry.value, link.field) if has(entry.value, link.field) else None
            if isinstance(value, str | int | float) and value != "":
                yield value


def values_of_parameter(arguments: JsonValue, parameter: str) -> Iterator[JsonValue]:
    """The values that arguments hold at a parameter's place ("legs[].fromId")."""
    held = [arguments]
    for piece in parameter.split("."):
        name = piece.removesuffix("[]")
        held = [value[name] for value in held if isinstance(value, dict) and name in value]
        if piece.endswith("[]"):
            held = [item for value in held if isinstance(value, list) for item in value]
    yield from held


def argument_with(parameter: str, value: JsonValue) -> Arguments:
    """The one argument that holds `value` at a parameter's place."""
    for piece in reversed(parameter.split(".")):
        value = {piece.removesuffix("[]"): [value] if piece.endswith("[]") else value}
    return value if isinstance(value, dict) else {}


class _Walk:
    def __init__(self, environment: Environment, links: Sequence[Link], wanted: Collection[str]) -> None:
        self.environment = environment
        self.wanted = wanted or {tool.name for tool in environment.tools}
        self.asked: set[str] = set()
        self.examples: dict[str, list[Example]] = defaultdict(list)
        self.problems: list[str] = []
        self._links: dict[str, dict[str, list[Link]]] = defaultdict(lambda: defaultdict(list))
        for link in links:
            self._links[link.tool][link.parameter].append(link)

    async def ask_all(self, calls: Iterable[Call], most: int) -> None:
        """Ask those not asked before, until `most` have been asked in all."""
        for call in [call for call in calls if call.key not in self.asked][: most - len(self.asked)]:
            self.asked.add(call.key)
            answer = await self.environment.answer(call)
            if answer.problem:
                self.problems.append(f"{call.tool}: {answer.problem}")
            else:
                self.examples[call.tool].append(Example(call, answer.response))

    def bare_calls(self) -> Iterator[Call]:
        """The calls that give what is required and no more."""
        for tool in self.environment.tools:
            most = VALUES**2 if tool.name in self.wanted else VALUES
            yield from (Call(tool=tool.name, arguments=arguments) for arguments in self._required(tool, most))

    def fuller_calls(self) -> Iterator[Call]:
        """The calls that give one thing more, which a response names."""
        for tool in (tool for tool in self.environment.tools if tool.name in self.wanted):
            for parameter, links in self._links[tool.name].items():
                if parameter.partition(".")[0].removesuffix("[]") in tool.required:
                    continue
                for bare, value in product(self._required(tool, 1), self._seen(links)[:FEWER_VALUES]):
                    yield Call(tool=tool.name, arguments={**bare, **argument_with(parameter, value)})

    def _required(self, tool: Tool, most: int) -> list[Arguments]:
        choices = {name: self._choices(tool, name) for name in tool.required}
        return [dict(zip(choices, values, strict=True)) for values in islice(product(*choices.values()), most)]

    def _choices(self, tool: Tool, name: str) -> list[JsonValue]:
        """Values for a required parameter: those that responses hold, else what its schema names."""
        found = [
            argument_with(parameter, value)[name]
            for parameter, links in self._links[tool.name].items()
            if parameter.partition(".")[0].removesuffix("[]") == name
            for value in self._seen(links)
        ]
        return found or stated_values(tool.properties[name])

    def _seen(self, links: Sequence[Link]) -> list[JsonValue]:
        """Up to VALUES values, the first of each link before the second of any."""
        columns = [_distinct(values_at(link, self.examples.get(link.source, ()))) for link in links]
        found = {_key(column[row]): column[row] for row in range(VALUES) for column in columns if row < len(column)}
        return list(found.values())[:VALUES]


def stated_values(schema: JsonSchema) -> list[JsonValue]:
    """The values that a schema itself names: its default, its choices or its examples."""
    if schema.get("default") is not None:
        return [schema["default"]]
    return list(schema.get("enum") or schema.get("examples") or ())[:VALUES]


def _distinct(values: Iterable[JsonValue]) -> list[JsonValue]:
    return list({_key(value): value for value in values}.values())[:VALUES]


def _key(value: JsonValue) -> str:
    return f"{type(value).__name__} {value}"


def with_examples(tools: Iterable[Tool], links: Iterable[Link], calls: Sequence[Call]) -> tuple[Tool, ...]:
    """The tools, each text that people say with values that were seen as its `examples`."""
    linked = {(link.tool, link.parameter) for link in links}
    return tuple(_with_examples(tool, {name for owner, name in linked if owner == tool.name}, calls) for tool in tools)


def _with_examples(tool: Tool, linked: set[str], calls: Sequence[Call]) -> Tool:
    properties = dict(tool.properties)
    for name, schema in tool.properties.items():
        stated = [call.arguments[name] for call in calls if call.tool == tool.name and name in call.arguments]
        seen = list(dict.fromkeys(value for value in stated if isinstance(value, str)))[:MOST_EXAMPLES]
        if seen and name not in linked and not (schema.get("enum") or schema.get("examples") or "format" in schema):
            properties[name] = {**schema, "examples": seen}
    return tool.with_changes(parameters={**tool.parameters, "properties": properties})
