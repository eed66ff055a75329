"""Explore an environment: find calls that get answers, and values in them that users can say.

A live server is explored once; the links that hold and what people can ask for by name are
stored.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice, product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.endpoints import Endpoint, chosen_names, with_values
from callwright.generators.environments.http import HttpEnvironment
from callwright.generators.environments.linking import find_links, likeliest_links, with_hints
from callwright.generators.environments.mcp import (
    McpEnvironment,
    ServerTools,
    read_server_tools,
    with_returns,
)
from callwright.generators.environments.opening import basis_of, endpoints_of_server
from callwright.generators.environments.picking import (
    MOST_STATED,
    argument_with,
    entries_of,
    has,
    stated_values,
    values_of_parameter,
)
from callwright.generators.environments.protocol import (
    CallResponse,
    Environment,
    EnvironmentSettings,
    HttpSettings,
    McpSettings,
)
from callwright.generators.environments.response_store import FILES, Description
from callwright.generators.environments.stored import ServerWorld, StoredEnvironment
from callwright.language.calls.entries import value_in
from callwright.warehouse.errors import ConfigurationError, TransientError
from callwright.warehouse.records import Arguments, Call, Link, Tool

ROUNDS = 4
VALUES = MOST_STATED  # of each required parameter that are tried
FEWER_VALUES = 2  # of each other
MOST_CALLS = 600
MOST_EXAMPLES = 8
KNOWN_CALLS = 12  # of each tool
_ASIDE = "unanswered"  # the source of tools that no environment answers for


class Example(NamedTuple):
    """An answered call and its response."""

    call: Call
    response: JsonValue

    @property
    def tells_something(self) -> bool:
        """Whether the response is not empty."""
        return self.response not in (None, [], {}, 0)


class Exploration(NamedTuple):
    """The answered calls by tool, and the links that they confirm."""

    examples: Mapping[str, tuple[Example, ...]]
    links: tuple[Link, ...]
    problems: tuple[str, ...]


async def explore_environment(settings: EnvironmentSettings, environment: Environment) -> None:
    """Explore a live server for what its document leaves open: valid links and sayable values.

    The findings are stored and hold for everyone with the same settings and document. Raises
    ConfigurationError if the server answers no call, TransientError if it stops answering. Other
    environments are left alone.
    """
    if not isinstance(settings, HttpSettings | McpSettings) or not isinstance(
        environment, StoredEnvironment
    ):
        return
    if environment.store.description(environment.kept_as, basis_of(settings)):
        return
    inner = environment.inner
    server = inner.server if isinstance(inner, ServerWorld) else inner
    if isinstance(server, HttpEnvironment) and isinstance(settings, HttpSettings):
        endpoints = endpoints_of_server(settings)
        # values come out of other tools' responses too
        await _explore(settings, environment, server.with_endpoints(endpoints), endpoints)
    elif isinstance(server, McpEnvironment) and isinstance(settings, McpSettings):
        listed = await read_server_tools(settings, server.address)
        if listed.cut_short:
            raise TransientError(
                f"{listed.cut_short} Its list of tools is not whole; run this again when it is up."
            )
        whole = server.with_tools([one.tool for one in listed.endpoints])
        if settings.reset is None:
            await _explore(settings, environment, whole, listed.endpoints)
            environment.inner = whole.with_tools(environment.tools)
        else:
            await _explore_reset(settings, environment, whole, listed)


async def _explore_reset(
    settings: McpSettings,
    environment: StoredEnvironment,
    server: McpEnvironment,
    listed: ServerTools,
) -> None:
    """Explore a server in its world, and check that its reset restores the state it reports."""
    of_state = Description((), (), reading=listed.reading, told_by=_told_by(settings, listed))
    first = await asyncio.to_thread(_told, server, of_state.told_by or ())
    world = ServerWorld(
        settings.name,
        of_state._replace(tools=server.tools, told_by=None),
        environment.store.path,
        server,
    )
    await _explore(settings, environment, world, listed.endpoints, of_state)
    if await asyncio.to_thread(_told, server, of_state.told_by or ()) != first:
        raise ConfigurationError(
            f"{server.address.shown} holds something else after it was reset than at first, so that"
            f" `reset` of {settings.name!r} does not restore it; `state` says which tools tell what"
            " it holds, where others tell what depends on chance."
        )
    environment.inner = ServerWorld(
        settings.name, environment.description, environment.store.path, server
    )


def _told(server: McpEnvironment, told_by: Sequence[Call]) -> list[CallResponse]:
    """Return the state that a server reports right after a reset.

    Raises ConfigurationError if it can't be reset, or does not report.
    """
    server.resetting.begin()
    answers = [server.ask_after((), call, writes=False) for call in told_by]
    for answer in answers:
        if answer.problem:
            raise ConfigurationError(
                f"The environment {server.name!r} does not tell what it holds ({answer.problem})."
            )
    return answers


def _told_by(settings: McpSettings, listed: ServerTools) -> tuple[Call, ...]:
    """Return the calls that reveal a server's state.

    They are the recipe's, else the files of its folder, else the reading tools without required
    parameters. Raises ConfigurationError if the recipe names an unknown tool or one that writes.
    """
    by_name = {one.tool.name: one.tool for one in listed.endpoints}
    reading = [name for name in listed.reading if name in by_name]
    for call in settings.asked_for_state:
        if call.tool not in listed.reading:
            unsure = "is not known to change nothing (`reads` says so)"
            refusal_text, reading_names = (
                unsure if call.tool in by_name else "is not one of its tools",
                ", ".join(reading) or "none",
            )
            raise ConfigurationError(
                f"`state` of {settings.name!r} names {call.tool!r}, which {refusal_text}; those"
                f" that read are {reading_names}."
            )
    if settings.state:
        asked = settings.asked_for_state
        return tuple(
            one.with_changes(arguments={**one.arguments, **by_name[one.tool].constants})
            for one in asked
        )
    if settings.reset is not None and settings.reset.folder is not None:
        return (FILES,)
    bare = [by_name[name] for name in reading if not by_name[name].required]
    return tuple(Call(tool=one.name, arguments=one.constants) for one in bare)


async def _explore(
    settings: HttpSettings | McpSettings,
    environment: StoredEnvironment,
    server: HttpEnvironment | McpEnvironment | ServerWorld,
    endpoints: Sequence[Endpoint],
    of_state: Description | None = None,
) -> None:
    """Explore a server and store its description, with reading tools and state calls as given.

    They are those of `of_state`. Raises ConfigurationError if no call is answered,
    TransientError if the server stops answering.
    """
    wanted = chosen_names(
        endpoints, settings.choice, settings.tools if isinstance(settings, HttpSettings) else ()
    )
    # none that a recipe excludes
    asked = chosen_names(endpoints, settings.choice.model_copy(update={"include": ()}))
    endpoints = with_values([one for one in endpoints if one.tool.name in asked], settings.values)
    description = Description(tuple(one.tool for one in endpoints), ())
    with closing(StoredEnvironment(server, environment.store.path, description)) as whole:
        while True:  # what is returned gives others their values; what was asked is stored
            exploration = await explore(whole, find_links(endpoints, spoken=True), wanted=wanted)
            seen = {
                tool: [one.response for one in examples]
                for tool, examples in exploration.examples.items()
            }
            known, endpoints = tuple(endpoints), with_returns(endpoints, seen)
            if endpoints == known:
                break
    if exploration.problems and not exploration.examples:
        problem = f"The environment {settings.name!r} answered no call ({exploration.problems[0]})."
        raise ConfigurationError(problem)
    # what a server left open by going down in the middle is not to count as what it does not know
    if exploration.problems:
        answer = await server.answer(
            next(one.call for examples in exploration.examples.values() for one in examples)
        )
        if answer.passing:
            raise TransientError(
                f"The server of {server.name!r} stopped answering while it was explored"
                f" ({answer.problem}) What it answered is kept; run this again when it is up."
            )
    described = _describe(endpoints, exploration, wanted)
    if of_state is not None:
        described = described._replace(reading=of_state.reading, told_by=of_state.told_by)
    environment.redescribe(described, basis_of(settings))


def _describe(
    endpoints: Sequence[Endpoint], found: Exploration, wanted: Collection[str]
) -> Description:
    """Describe the tools that answered, with hints for their valid links, and sayable calls."""
    chosen = [one.tool for one in endpoints if one.tool.name in wanted]
    answered = [tool for tool in chosen if tool.name in found.examples]
    names, borne_out = {tool.name for tool in answered}, {link.key for link in found.links}
    links = likeliest_links(
        answered, (link for link in find_links(endpoints) if link.key in borne_out)
    )
    telling = [
        [one.call for one in found.examples[tool.name] if one.tells_something] for tool in answered
    ]
    calls = tuple(call for own in telling for call in own[:KNOWN_CALLS])
    tools = with_hints(with_examples(answered, links, calls), links)
    beside = tuple(tool.with_changes(source=_ASIDE) for tool in chosen if tool.name not in names)
    return Description(tools, links, calls, unanswered=beside)


async def explore(
    environment: Environment, links: Sequence[Link], *, wanted: Collection[str] = ()
) -> Exploration:
    """Make at most MOST_CALLS calls, in an order set by tools, links and answers alone.

    If tools are `wanted`, the others are only called for values that these need.
    """
    walk = _Exploration(environment, links, wanted)
    for _ in range(ROUNDS):
        await walk.ask_all(walk.bare_calls())
    await walk.ask_all(walk.fuller_calls())
    examples = {tool: tuple(found) for tool, found in walk.examples.items()}
    return Exploration(
        examples,
        tuple(link for link in links if is_borne_out(link, examples)),
        tuple(walk.problems),
    )


def is_borne_out(link: Link, examples: Mapping[str, Sequence[Example]]) -> bool:
    """Whether a call that returned something used a value that the link names."""
    values = {_key(value) for value in values_at(link, examples.get(link.source, ()))}
    return any(
        _key(used) in values
        for example in examples.get(link.tool, ())
        if example.tells_something
        for used in values_of_parameter(example.call.arguments, link.parameter)
    )


def values_at(link: Link, examples: Iterable[Example]) -> Iterator[JsonValue]:
    """Yield the plain values that a link names in these responses."""
    for example in examples:
        if link.entries and not has(example.response, link.entries):
            continue
        for entry in entries_of(example.response, link.entries):
            value = value_in(entry.value, link.field)
            if isinstance(value, str | int | float) and value != "":
                yield value


class _Exploration:
    def __init__(
        self, environment: Environment, links: Sequence[Link], wanted: Collection[str]
    ) -> None:
        self.environment = environment
        self.wanted = wanted or {tool.name for tool in environment.tools}
        self.asked: set[str] = set()
        self.examples: dict[str, list[Example]] = defaultdict(list)
        self.problems: list[str] = []
        self._links: dict[str, dict[str, list[Link]]] = defaultdict(lambda: defaultdict(list))
        for link in links:
            self._links[link.tool][link.parameter].append(link)

    async def ask_all(self, calls: Iterable[Call]) -> None:
        """Ask the calls not asked before, until MOST_CALLS have been asked in all."""
        for call in [call for call in calls if call.key not in self.asked][
            : MOST_CALLS - len(self.asked)
        ]:
            self.asked.add(call.key)
            answer = await self.environment.answer(call)
            if answer.problem:
                self.problems.append(f"{call.tool}: {answer.problem}")
            else:
                self.examples[call.tool].append(Example(call, answer.response))

    def bare_calls(self) -> Iterator[Call]:
        """Yield the calls with the required arguments only."""
        for tool in self.environment.tools:
            most = VALUES**2 if tool.name in self.wanted else VALUES
            yield from (
                Call(tool=tool.name, arguments=arguments)
                for arguments in self._required(tool, most)
            )

    def fuller_calls(self) -> Iterator[Call]:
        """Yield calls with one more argument, whose value a response holds."""
        for tool in (tool for tool in self.environment.tools if tool.name in self.wanted):
            for parameter, links in self._links[tool.name].items():
                if parameter.partition(".")[0].removesuffix("[]") in tool.required:
                    continue
                for bare, value in product(
                    self._required(tool, 1), self._seen(links)[:FEWER_VALUES]
                ):
                    yield Call(
                        tool=tool.name, arguments={**bare, **argument_with(parameter, value)}
                    )

    def _required(self, tool: Tool, most: int) -> list[Arguments]:
        choices = {name: self._choices(tool, name) for name in tool.required}
        return [
            dict(zip(choices, values, strict=True))
            for values in islice(product(*choices.values()), most)
        ]

    def _choices(self, tool: Tool, name: str) -> list[JsonValue]:
        """Return values for a required parameter from responses, or else from its schema."""
        seen_values = [
            argument_with(parameter, value)[name]
            for parameter, links in self._links[tool.name].items()
            if parameter.partition(".")[0].removesuffix("[]") == name
            for value in self._seen(links)
        ]
        return seen_values or stated_values(tool.properties[name])

    def _seen(self, links: Sequence[Link]) -> list[JsonValue]:
        """Return up to VALUES values, with the first of each link before the second of any."""
        seen = [values_at(link, self.examples.get(link.source, ())) for link in links]
        columns = [
            list({_key(value): value for value in values}.values())[:VALUES] for values in seen
        ]
        values_by_key = {
            _key(column[row]): column[row]
            for row in range(VALUES)
            for column in columns
            if row < len(column)
        }
        return list(values_by_key.values())[:VALUES]


def _key(value: JsonValue) -> str:
    return f"{type(value).__name__} {value}"


def with_examples(
    tools: Iterable[Tool], links: Iterable[Link], calls: Sequence[Call]
) -> tuple[Tool, ...]:
    """Return the tools with seen values as `examples` of each text that people say."""
    linked, tools_with_examples = {(link.tool, link.parameter) for link in links}, []
    for tool in tools:
        properties, own = (
            dict(tool.properties),
            [call.arguments for call in calls if call.tool == tool.name],
        )
        for name, schema in tool.properties.items():
            seen = list(dict.fromkeys(one[name] for one in own if isinstance(one.get(name), str)))[
                :MOST_EXAMPLES
            ]
            is_told = (
                (tool.name, name) in linked
                or schema.get("enum")
                or schema.get("examples")
                or "format" in schema
            )
            if seen and not is_told:
                properties[name] = {**schema, "examples": seen}
        tools_with_examples.append(
            tool.with_changes(parameters={**tool.parameters, "properties": properties})
        )
    return tuple(tools_with_examples)
