"""Opening the environment that a recipe names."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import get_args

from pydantic import JsonValue

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.choosing import ListedTool, ToolChoice, adapt, choose, listed_tools
from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.endpoints import (
    Endpoint,
    chosen_names,
    endpoints_of,
    read_endpoints,
    with_values,
)
from callwright.generators.environments.exploring import Exploration, explore, with_examples
from callwright.generators.environments.http import HttpEnvironment, HttpLimits
from callwright.generators.environments.linking import MOST_HINTS, find_links, with_hints
from callwright.generators.environments.mcp import McpEnvironment, ServerTools, read_server_tools, with_returns
from callwright.generators.environments.mcp_server import McpAddress, UnheardError
from callwright.generators.environments.protocol import (
    WORLDS,
    CallResponse,
    Environment,
    EnvironmentSettings,
    HttpSettings,
    McpSettings,
    RecordedSettings,
    ResponseSize,
    Secret,
    SimulatedSettings,
    TravelSettings,
    World,
)
from callwright.generators.environments.response_store import FILES, Description, ResponseStore
from callwright.generators.environments.rules import CompiledRules, read_rules
from callwright.generators.environments.server_world import ServerWorld
from callwright.generators.environments.stored import RecordedEnvironment, StoredEnvironment, open_recording
from callwright.warehouse.errors import ConfigurationError, TransientError
from callwright.warehouse.records import Call, Link, Tool, content_key

VERSION = 3  # raised when the same answers would be described otherwise
KNOWN_CALLS = 12  # of each tool
_NOTHING = Description((), ())
_ASIDE = "unanswered"  # the source of tools that no environment answers for


def open_environment(settings: EnvironmentSettings, *, store: Path, secret: Secret) -> Environment:
    """The environment of these settings; nothing is asked of it yet. What it answers is kept in the file `store`."""
    return WORLDS.named(settings.environment).open(settings, store, secret)


async def explore_environment(settings: EnvironmentSettings, environment: Environment, *, again: bool = False) -> None:
    """Ask a live server what its document leaves open: which links hold, and what people can ask for by name.

    What is found is kept in the store and holds for all who open it with the same settings and document, until it is
    asked for `again`. Raises ConfigurationError where the server answers nothing, TransientError where it stops answering.
    Other environments need none of this.
    """
    if not isinstance(settings, HttpSettings | McpSettings) or not isinstance(environment, StoredEnvironment):
        return
    basis = _basis(settings)
    if not again and environment.store.description(environment.kept_as, basis):
        return
    if isinstance(environment.inner, HttpEnvironment) and isinstance(settings, HttpSettings):
        endpoints = _endpoints(settings)
        # values come out of other tools' responses too
        await _explore(settings, environment, environment.inner.with_endpoints(endpoints), endpoints)
    elif isinstance(settings, McpSettings):
        await _explore_mcp(settings, environment)


async def _explore_mcp(settings: McpSettings, environment: StoredEnvironment) -> None:
    within = environment.inner
    server = within.server if isinstance(within, ServerWorld) else within
    if not isinstance(server, McpEnvironment):
        return
    listed = await read_server_tools(settings, server.address)
    if listed.cut_short:
        raise TransientError(f"{listed.cut_short} Its list of tools is not whole; run this again when it is up.")
    whole = server.with_tools([one.tool for one in listed.endpoints])
    if settings.reset is None:
        await _explore(settings, environment, whole, listed.endpoints)
        environment.inner = whole.with_tools(environment.tools)
        return
    told_by = _told_by(settings, listed)
    first = await asyncio.to_thread(_told, whole, told_by)
    world = ServerWorld(
        settings.name, Description(whole.tools, (), reading=listed.reading), environment.store.path, whole
    )
    await _explore(
        settings, environment, world, listed.endpoints, Description((), (), reading=listed.reading, told_by=told_by)
    )
    if await asyncio.to_thread(_told, whole, told_by) != first:
        raise ConfigurationError(
            f"{server.address.shown} holds something else after it was reset than at first, so that `reset` of {settings.name!r}"
            " does not restore it; `state` says which tools tell what it holds, where others tell what depends on chance."
        )
    environment.inner = ServerWorld(settings.name, environment.description, environment.store.path, whole)


def _told(server: McpEnvironment, told_by: Sequence[Call]) -> list[CallResponse]:
    """What a server tells that was just reset. Raises ConfigurationError where it can't be, or does not tell."""
    server.resetting.begin()
    answers = [server.tell_after((), call) for call in told_by]
    for answer in answers:
        if answer.problem:
            raise ConfigurationError(f"The environment {server.name!r} does not tell what it holds ({answer.problem}).")
    return answers


def _told_by(settings: McpSettings, listed: ServerTools) -> tuple[Call, ...]:
    """The calls that tell what a server holds: those of the recipe, else its folder's files, else what reads and needs nothing.

    Raises ConfigurationError where the recipe names a tool that there is not, or one that writes.
    """
    by_name = {one.tool.name: one.tool for one in listed.endpoints}
    for call in settings.asked_for_state:
        if call.tool not in listed.reading:
            known = ", ".join(name for name in listed.reading if name in by_name) or "none"
            told = (
                "is not known to change nothing (`reads` says so)"
                if call.tool in by_name
                else "is not one of its tools"
            )
            raise ConfigurationError(
                f"`state` of {settings.name!r} names {call.tool!r}, which {told}; those that read are {known}."
            )
    if settings.state:
        asked = settings.asked_for_state
        return tuple(one.with_changes(arguments={**one.arguments, **by_name[one.tool].constants}) for one in asked)
    if settings.reset is not None and settings.reset.folder is not None:
        return (FILES,)
    whole = [by_name[name] for name in listed.reading if name in by_name and not by_name[name].required]
    return tuple(Call(tool=one.name, arguments=one.constants) for one in whole)


async def _explore(
    settings: HttpSettings | McpSettings,
    environment: StoredEnvironment,
    inner: HttpEnvironment | McpEnvironment | ServerWorld,
    endpoints: Sequence[Endpoint],
    of_state: Description = _NOTHING,
) -> None:
    """`of_state` says which tools read, and what tells the state."""
    wanted = chosen_names(endpoints, settings.choice, settings.tools if isinstance(settings, HttpSettings) else ())
    asked = chosen_names(endpoints, settings.choice.model_copy(update={"include": ()}))  # none that a recipe excludes
    endpoints = with_values([one for one in endpoints if one.tool.name in asked], settings.values)
    description = Description(tuple(one.tool for one in endpoints), ())
    with closing(StoredEnvironment(inner, environment.store.path, description)) as whole:
        found = await explore(whole, find_links(endpoints, spoken=True), wanted=wanted)
        while (returning := with_returns(endpoints, _responses(found))) != tuple(endpoints):
            endpoints = returning  # what is returned gives others their values; what was asked is stored
            found = await explore(whole, find_links(endpoints, spoken=True), wanted=wanted)
    if found.problems and not found.examples:
        raise ConfigurationError(f"The environment {settings.name!r} answered no call ({found.problems[0]}).")
    if found.problems:
        await _validate_it_still_answers(inner, found)
    described = describe(endpoints, found, wanted)._replace(reading=of_state.reading, told_by=of_state.told_by)
    environment.redescribe(described, _basis(settings))


def _responses(found: Exploration) -> dict[str, list[JsonValue]]:
    return {tool: [example.response for example in examples] for tool, examples in found.examples.items()}


async def _validate_it_still_answers(
    server: HttpEnvironment | McpEnvironment | ServerWorld, found: Exploration
) -> None:
    """What a server left open by going down in the middle is not to count as what it does not know."""
    known = next(example.call for examples in found.examples.values() for example in examples)
    answer = await server.answer(known)
    if answer.passing:
        raise TransientError(
            f"The server of {server.name!r} stopped answering while it was explored ({answer.problem})"
            " What it answered is kept; run this again when it is up."
        )


def describe(endpoints: Sequence[Endpoint], found: Exploration, wanted: Collection[str]) -> Description:
    """The tools that answered, the links that hold among them, stated in their descriptions, and what people can say."""
    chosen = [one.tool for one in endpoints if one.tool.name in wanted]
    answered = [tool for tool in chosen if tool.name in found.examples]
    borne_out = {link.key for link in found.links}
    links = _among(answered, [link for link in find_links(endpoints) if link.key in borne_out])
    calls = tuple(call for tool in answered for call in _sayable_calls(tool, found))
    tools = with_hints(with_examples(answered, links, calls), links)
    beside = tuple(tool.with_changes(source=_ASIDE) for tool in chosen if tool.name not in found.examples)
    return Description(tools, links, calls, unanswered=beside)


def _sayable_calls(tool: Tool, found: Exploration) -> list[Call]:
    examples = [example for example in found.examples[tool.name] if example.response not in (None, [], {}, 0)]
    return [example.call for example in examples[:KNOWN_CALLS]]


def _among(tools: Sequence[Tool], links: Sequence[Link]) -> tuple[Link, ...]:
    names = {tool.name for tool in tools}
    return tuple(link for link in links if link.tool in names and link.source in names)


def _open_travel(settings: TravelSettings, store: Path, _secret: Secret) -> Environment:
    """The world of travel with its answers stored: to look one up takes less than to make it up anew."""
    from callwright.generators.environments.travel import open_travel

    world = open_travel(seed=settings.seed, response_size=settings.response_size)
    told = world.rules.key if world.rules is not None else ""
    keys = content_key([VERSION, told, [tool.key for tool in world.tools]])
    return StoredEnvironment(world, store, kept_as=f"{world.name} {settings.seed} {settings.response_size} {keys}")


def _open_http(settings: HttpSettings, store: Path, secret: Secret) -> Environment:
    secrets = secrets_of(settings.secrets, secret)
    limits = HttpLimits(settings.timeout, settings.max_bytes)
    offered = _endpoints(settings)
    wanted = chosen_names(offered, settings.choice, settings.tools)
    endpoints = [one for one in offered if one.tool.name in wanted]
    inner = HttpEnvironment(settings.name, endpoints, settings.base_url, secrets=secrets, limits=limits)
    basis = _basis(settings)
    with closing(ResponseStore(store)) as known:
        description = known.description(settings.name, basis)
    return StoredEnvironment(inner, store, description or _stated(endpoints))


def _open_mcp(settings: McpSettings, store: Path, secret: Secret) -> Environment:
    """The server with the tools that it was explored to have; none before."""
    address = _address(settings, secret)
    with closing(ResponseStore(store)) as known:
        description = known.description(settings.name, _basis(settings)) or Description((), ())
    own_names = {new: own for own, new in settings.rename.items()}
    limits = HttpLimits(settings.timeout, settings.max_bytes)
    server = McpEnvironment(settings.name, address, description.tools, own_names, limits, reset=settings.reset)
    if settings.reset is None:
        return StoredEnvironment(server, store, description)
    return StoredEnvironment(ServerWorld(settings.name, description, store, server), store, description)


def _address(settings: McpSettings, secret: Secret) -> McpAddress:
    secrets = tuple(secrets_of(settings.secrets, secret).items())
    return McpAddress(settings.command, settings.url, secrets, settings.folder.absolute())


async def listed_endpoints(settings: HttpSettings | McpSettings, secret: Secret) -> ServerTools:
    """What a recipe takes of a live server, by its document or its own list; no tool of it is called.

    Raises UnheardError where the server can't be asked for its list, ConfigurationError where nothing of it is taken.
    """
    if isinstance(settings, HttpSettings):
        listed, only = ServerTools(_endpoints(settings), (), ""), settings.tools
    else:
        listed, only = await read_server_tools(settings, _heard_at(settings, secret)), ()
    wanted = chosen_names(listed.endpoints, settings.choice, only)
    endpoints = with_values(listed.endpoints, settings.values)
    return listed._replace(endpoints=tuple(one for one in endpoints if one.tool.name in wanted))


def _heard_at(settings: McpSettings, secret: Secret) -> McpAddress:
    try:
        return _address(settings, secret)
    except ConfigurationError as error:
        raise UnheardError(str(error)) from error


def _stated(endpoints: Sequence[Endpoint]) -> Description:
    """What the document alone says."""
    tools, links = [one.tool for one in endpoints], find_links(endpoints)
    return Description(with_hints(tools, links), links)


def describe_simulated(
    settings: SimulatedSettings, tools: Sequence[Tool], listed: Sequence[ListedTool], store: Path
) -> None:
    """Keep what a simulated environment is made of; the same tools are described once.

    Raises ConfigurationError where there are none.
    """
    if not tools:
        raise ConfigurationError(f"The simulated environment {settings.name!r} has no tools.")
    operations = [(one.method, one.path) for one in listed]
    stated: list[JsonValue] = [[list(link) for link in one.links] for one in listed if one.links]
    stated += [[list(error) for error in one.errors] for one in listed if one.errors]
    described: list[JsonValue] = [[tool.key for tool in tools], [list(one) for one in operations], *stated]
    described += [] if settings.rules is None else [read_rules(settings.rules).key]
    basis = content_key([VERSION, settings.seed, *described])
    with closing(ResponseStore(store)) as known:
        if known.description(settings.described_as, basis) is None:
            known.describe(settings.described_as, basis, _simulated(settings, tools, listed))


def _simulated(settings: SimulatedSettings, tools: Sequence[Tool], listed: Sequence[ListedTool]) -> Description:
    own = [tool.with_changes(source=f"environment:{settings.name}") for tool in tools]
    operations, errors = [(one.method, one.path) for one in listed], [one.errors for one in listed]
    endpoints = endpoints_of(own, operations, [one.links for one in listed], errors)
    rules = _rules_of(settings)
    links = find_links(endpoints) if rules is None else rules.links(endpoints)
    world = _document_world(settings, endpoints, links, rules)
    hinted = with_hints([one.tool for one in endpoints], links, MOST_HINTS if rules is None else None)
    operations = [(one.method, one.path) for one in endpoints]
    declared = tuple(one.errors for one in endpoints)
    return Description(hinted, links, world.sayable_calls, tuple(operations), errors=declared)


def _open_simulated(settings: SimulatedSettings, store: Path, _secret: Secret) -> Environment:
    with closing(ResponseStore(store)) as known:
        description = known.description(settings.described_as)
    if description is None and settings.path is None:
        raise ConfigurationError(
            f"The catalog {settings.catalog!r} of the simulated environment {settings.name!r} was not looked up in this"
            " work folder yet; a build does so."
        )
    if description is None and settings.path is not None:
        catalog = read_catalog(settings.format, settings.path)
        by_key = {tool.key: tool for tool in catalog.tools}
        chosen = choose(listed_tools(catalog), settings)
        tools = adapt([by_key[one.key] for one in chosen], settings)
        description = _simulated(settings, tools, chosen)
    if description is None:
        raise ConfigurationError(f"The simulated environment {settings.name!r} has no tools.")
    rules, effects = _rules_of(settings), settings.effects
    world = world_of_description(settings, description, rules)
    told: list[JsonValue] = [{name: one.model_dump(mode="json") for name, one in effects.items()}] if effects else []
    told += [] if rules is None else [rules.key, settings.response_size]
    keys = content_key([VERSION, settings.seed, [tool.key for tool in description.tools], *told])
    kept_as = f"{settings.name} {keys}"
    return StoredEnvironment(world, store, description, kept_as=kept_as, remember=world.remember)


def world_of_description(
    settings: SimulatedSettings, description: Description, rules: CompiledRules | None
) -> DocumentWorld:
    """The world of a simulated document that was described, in the size of its rules that the settings name."""
    endpoints = endpoints_of(description.tools, description.operations, errors=description.errors)
    return _document_world(settings, endpoints, description.links, rules)


def _rules_of(settings: SimulatedSettings) -> CompiledRules | None:
    return read_rules(settings.rules) if settings.rules is not None else None


def _document_world(
    settings: SimulatedSettings, endpoints: Sequence[Endpoint], links: Sequence[Link], rules: CompiledRules | None
) -> DocumentWorld:
    if rules is not None:
        rules = rules.sized(settings.response_size or next(iter(rules.stated.sizes), ""))
        if not (settings.include or settings.exclude or settings.rename):
            rules.validate([one.tool for one in endpoints])
    return DocumentWorld(settings.name, endpoints, links, seed=settings.seed, effects=settings.effects, rules=rules)


def _open_recorded(settings: RecordedSettings, _store: Path, _secret: Secret) -> Environment:
    environment = RecordedEnvironment(settings.name, open_recording(settings.path, settings.name))
    if not environment.tools:
        raise ConfigurationError(
            f'The recording {str(settings.path)!r} names no tools; it needs a line with {{"tool": …}} for each.'
        )
    return environment


def _endpoints(settings: HttpSettings) -> tuple[Endpoint, ...]:
    """What may be asked of a server; also what a recipe leaves out, for others may need values of its responses."""
    source = f"environment:{settings.name}"
    allow, choice = settings.allow, settings.choice
    return read_endpoints(settings.document, allow=allow, secrets=settings.secrets, source=source, choice=choice)


def secrets_of(variables: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """The values of variables by what takes them. Raises ConfigurationError where one is not set."""
    return {name: _value_of(variable, name, secret) for name, variable in variables.items()}


def _value_of(variable: str, name: str, secret: Secret) -> str:
    value = secret(variable)
    if not value:
        raise ConfigurationError(f"The variable {variable} is not set; {name!r} takes its value from it.")
    return value


def _basis(settings: HttpSettings | McpSettings) -> str:
    """The key of all that a description is made from; a document that changes is explored again."""
    common: list[JsonValue] = [VERSION, list(settings.allow), list(settings.secrets)]
    stated = settings.stated
    own = (*ToolChoice.model_fields, "values", "reads", "reset", "state")
    more = {name: stated[name] for name in own if name in stated}
    if isinstance(settings, McpSettings):
        return content_key([list(settings.command), settings.url, *common, more])
    document = content_key(settings.document.read_text(encoding="utf-8", errors="replace"))
    return content_key([document, settings.base_url, list(settings.tools), *common, more])


HTTP = World("http", HttpSettings, _open_http)
MCP = World("mcp", McpSettings, _open_mcp)
RECORDED = World("recorded", RecordedSettings, _open_recorded)
SIMULATED = World("simulated", SimulatedSettings, _open_simulated)
TRAVEL = World(
    "travel",
    TravelSettings,
    _open_travel,
    tuple(TravelSettings(environment="travel", response_size=size) for size in get_args(ResponseSize)),
)
