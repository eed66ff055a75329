"""Open a recipe's environment, or a shipped world from its JSON."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.choosing import (
    ListedTool,
    ToolChoice,
    adapt,
    choose,
    listed_tools,
)
from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.endpoints import (
    Endpoint,
    chosen_names,
    endpoints_of,
    read_endpoints,
    with_values,
)
from callwright.generators.environments.episodes import StatefulWorld, world_of
from callwright.generators.environments.http import HttpEnvironment, HttpLimits
from callwright.generators.environments.joined import JoinedEnvironment, JoinedWorld
from callwright.generators.environments.linking import find_links, likeliest_links, with_hints
from callwright.generators.environments.mcp import McpEnvironment, ServerTools, read_server_tools
from callwright.generators.environments.mcp_server import McpAddress, UnheardError
from callwright.generators.environments.protocol import (
    WORLDS,
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
from callwright.generators.environments.response_store import (
    Description,
    ResponseStore,
    description_from,
    dumped_description,
    kept_description,
)
from callwright.generators.environments.rules import CompiledRules, read_rules, rules_of
from callwright.generators.environments.stored import (
    DescribedEnvironment,
    RecordedEnvironment,
    ServerWorld,
    StoredEnvironment,
    open_recording,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.tasks import names_in_episodes
from callwright.warehouse.records import Link, Tool, content_key
from callwright.warehouse.registry import file_of, guarded, row_in_file
from callwright.warehouse.releases import ShippedWorld

VERSION = 7  # raised when the same answers would be described otherwise


def open_environment(settings: EnvironmentSettings, *, store: Path, secret: Secret) -> Environment:
    """Open the environment of these settings; nothing is asked of it yet.

    Its answers are kept in the file `store`.
    """
    world = WORLDS.named(settings.environment)
    with guarded(f"environment {world.name!r}", world.open):
        return world.open(settings, store, secret)


def _open_travel(settings: TravelSettings, store: Path, _secret: Secret) -> Environment:
    """Open the travel world with stored answers, because looking up beats recomputing."""
    from callwright.generators.environments.travel import open_travel

    world = open_travel(seed=settings.seed, response_size=settings.response_size)
    told = world.rules.key if world.rules is not None else ""
    keys = content_key([VERSION, told, [tool.key for tool in world.tools]])
    return StoredEnvironment(
        world, store, kept_as=f"{world.name} {settings.seed} {settings.response_size} {keys}"
    )


def _open_recorded(settings: RecordedSettings, _store: Path, _secret: Secret) -> Environment:
    environment = RecordedEnvironment(settings.name, open_recording(settings.path, settings.name))
    if not environment.tools:
        raise ConfigurationError(
            f'The recording {str(settings.path)!r} names no tools; it needs a line with {{"tool":'
            " …} for each."
        )
    return environment


# Live servers


def _open_http(settings: HttpSettings, store: Path, secret: Secret) -> Environment:
    secrets = secrets_of(settings.secrets, secret)
    limits = HttpLimits(settings.timeout, settings.max_bytes)
    offered = endpoints_of_server(settings)
    wanted = chosen_names(offered, settings.choice, settings.tools)
    endpoints = [one for one in offered if one.tool.name in wanted]
    inner = HttpEnvironment(
        settings.name, endpoints, settings.base_url, secrets=secrets, limits=limits
    )
    description = kept_description(store, settings.name, basis_of(settings))
    if description is None:  # what the document alone says
        tools = [one.tool for one in endpoints]
        links = likeliest_links(tools, find_links(endpoints))
        description = Description(with_hints(tools, links), links)
    return StoredEnvironment(inner, store, description)


def _open_mcp(settings: McpSettings, store: Path, secret: Secret) -> Environment:
    """Open a server with the tools that exploring found; without tools if not yet explored."""
    address = _address(settings, secret)
    description = kept_description(store, settings.name, basis_of(settings)) or Description((), ())
    own_names = {new: own for own, new in settings.rename.items()}
    limits = HttpLimits(settings.timeout, settings.max_bytes)
    server = McpEnvironment(
        settings.name, address, description.tools, own_names, limits, reset=settings.reset
    )
    inner = ServerWorld(settings.name, description, store, server) if settings.reset else server
    return StoredEnvironment(inner, store, description)


def _address(settings: McpSettings, secret: Secret) -> McpAddress:
    secrets = tuple(secrets_of(settings.secrets, secret).items())
    return McpAddress(settings.command, settings.url, secrets, settings.folder.absolute())


def secrets_of(variables: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """Return the values of environment variables by the names that use them.

    Raises ConfigurationError if a variable is not set.
    """
    secret_values = {name: secret(variable) for name, variable in variables.items()}
    for name, value in secret_values.items():
        if not value:
            raise ConfigurationError(
                f"The variable {variables[name]} is not set; {name!r} takes its value from it."
            )
    return secret_values


async def listed_endpoints(settings: HttpSettings | McpSettings, secret: Secret) -> ServerTools:
    """Return what a recipe uses of a live server, by document or list; no tool is called.

    Raises UnheardError if the server can't be asked for its list, ConfigurationError if the
    recipe uses nothing of it.
    """
    if isinstance(settings, HttpSettings):
        listed, only = ServerTools(endpoints_of_server(settings), (), ""), settings.tools
    else:
        try:
            address = _address(settings, secret)
        except ConfigurationError as error:
            raise UnheardError(str(error)) from error
        listed, only = await read_server_tools(settings, address), ()
    wanted = chosen_names(listed.endpoints, settings.choice, only)
    endpoints = with_values(listed.endpoints, settings.values)
    return listed._replace(endpoints=tuple(one for one in endpoints if one.tool.name in wanted))


def endpoints_of_server(settings: HttpSettings) -> tuple[Endpoint, ...]:
    """Return a server's endpoints, even unused ones, whose responses may hold values for others."""
    source = f"environment:{settings.name}"
    allow, choice = settings.allow, settings.choice
    return read_endpoints(
        settings.document, allow=allow, secrets=settings.secrets, source=source, choice=choice
    )


def basis_of(settings: HttpSettings | McpSettings) -> str:
    """Return the key of a description's inputs; a changed document is explored again."""
    common: list[JsonValue] = [VERSION, list(settings.allow), list(settings.secrets)]
    stated = settings.stated
    own = (*ToolChoice.model_fields, "values", "reads", "reset", "state")
    more = {name: stated[name] for name in own if name in stated}
    if isinstance(settings, McpSettings):
        return content_key([list(settings.command), settings.url, *common, more])
    document = content_key(settings.document.read_text(encoding="utf-8", errors="replace"))
    return content_key([document, settings.base_url, list(settings.tools), *common, more])


# Simulated documents


def _open_simulated(settings: SimulatedSettings, store: Path, _secret: Secret) -> Environment:
    description = kept_description(store, settings.described_as)
    if description is None:
        if settings.path is None:
            raise ConfigurationError(
                f"The catalog {settings.catalog!r} of the simulated environment {settings.name!r}"
                " was not looked up in this work folder yet; a build does so."
            )
        catalog = read_catalog(settings.format, settings.path)
        by_key = {tool.key: tool for tool in catalog.tools}
        chosen = choose(listed_tools(catalog), settings)
        description = _simulated(
            settings, adapt([by_key[one.key] for one in chosen], settings), chosen
        )
    rules, effects = _rules_of(settings), settings.effects
    world = _world_of_description(settings, description, rules)
    key_parts: list[JsonValue] = (
        [{name: one.model_dump(mode="json") for name, one in effects.items()}] if effects else []
    )
    key_parts += [] if rules is None else [rules.key, settings.response_size]
    keys = content_key(
        [VERSION, settings.seed, [tool.key for tool in description.tools], *key_parts]
    )
    return StoredEnvironment(
        world, store, description, kept_as=f"{settings.name} {keys}", remember=world.remember
    )


def describe_simulated(
    settings: SimulatedSettings, tools: Sequence[Tool], listed: Sequence[ListedTool], store: Path
) -> None:
    """Store the description of a simulated environment; the same tools are described once.

    Raises ConfigurationError if there are no tools.
    """
    if not tools:
        raise ConfigurationError(f"The simulated environment {settings.name!r} has no tools.")
    described: list[JsonValue] = [
        [tool.key for tool in tools],
        [[one.method, one.path] for one in listed],
    ]
    described += [[list(link) for link in one.links] for one in listed if one.links]
    described += [[list(error) for error in one.errors] for one in listed if one.errors]
    described += [] if settings.rules is None else [read_rules(settings.rules).key]
    basis = content_key([VERSION, settings.seed, *described])
    with closing(ResponseStore(store)) as known:
        if known.description(settings.described_as, basis) is None:
            known.describe(settings.described_as, basis, _simulated(settings, tools, listed))


def _simulated(
    settings: SimulatedSettings, tools: Sequence[Tool], listed: Sequence[ListedTool]
) -> Description:
    own = [tool.with_changes(source=f"environment:{settings.name}") for tool in tools]
    operations, errors = [(one.method, one.path) for one in listed], [one.errors for one in listed]
    endpoints = endpoints_of(own, operations, [one.links for one in listed], errors)
    rules = _rules_of(settings)
    found = find_links(endpoints) if rules is None else rules.links(endpoints)
    links = likeliest_links(own, found) if rules is None else found
    calls = _document_world(settings, endpoints, links, rules).sayable_calls(settings.seed)
    hinted = with_hints([one.tool for one in endpoints], links)
    asked = tuple((one.method, one.path) for one in endpoints)
    return Description(hinted, links, calls, asked, errors=tuple(one.errors for one in endpoints))


def _rules_of(settings: SimulatedSettings) -> CompiledRules | None:
    return read_rules(settings.rules) if settings.rules is not None else None


def _world_of_description(
    settings: SimulatedSettings, description: Description, rules: CompiledRules | None
) -> DocumentWorld:
    endpoints = endpoints_of(description.tools, description.operations, errors=description.errors)
    return _document_world(settings, endpoints, description.links, rules)


def _document_world(
    settings: SimulatedSettings,
    endpoints: Sequence[Endpoint],
    links: Sequence[Link],
    rules: CompiledRules | None,
) -> DocumentWorld:
    """Return the world of a document; the settings choose the response size of its rules."""
    if rules is not None:
        rules = rules.sized(settings.response_size or next(iter(rules.stated.sizes), ""))
        if not (settings.include or settings.exclude or settings.rename):
            rules.validate([one.tool for one in endpoints])
    return DocumentWorld(
        settings.name, endpoints, links, seed=settings.seed, effects=settings.effects, rules=rules
    )


# Worlds to be taken along, so that tasks are played where neither recipe nor document is


def ship_world(environment: Environment, settings: EnvironmentSettings) -> ShippedWorld:
    """Return a portable world: a simulated document in full, others by settings and source file.

    Raises ConfigurationError if the world can't be changed by calls, or is a server.
    """
    world = world_of(environment)
    if isinstance(world, ServerWorld):
        raise ConfigurationError(
            f"The world {world.name!r} is a server, which can't be taken along: its tasks are"
            " evaluated where it was recorded or can be started. Leave their kind out."
        )
    names = names_in_episodes(world.tools)
    world_settings: dict[str, JsonValue] = settings.model_dump(mode="json")
    if isinstance(settings, SimulatedSettings) and isinstance(environment, DescribedEnvironment):
        document: dict[str, JsonValue] = {
            "environment": settings.environment,
            "name": world.name,
            "version": VERSION,
            "seed": world.seed,
            "effects": world_settings["effects"],
            "description": dumped_description(environment.description),
        }
        rules = getattr(world, "rules", None)
        if isinstance(rules, CompiledRules):
            told: JsonValue = rules.stated.model_dump(
                mode="json", by_alias=True, exclude_defaults=True
            )
            document |= {"rules": told, "response_size": settings.response_size}
        return ShippedWorld(document, names)
    source = WORLDS.source_of(settings.environment)
    if source is None:  # a package brings it, which has to be there as well
        return ShippedWorld(world_settings, names)
    path, name = file_of(source.place, Path())
    text = path.read_text(encoding="utf-8")
    return ShippedWorld(
        world_settings | {"extension": f"{path.name}:{name}"}, names, {path.name: text}
    )


def join_shipped(
    environment: JoinedEnvironment, shipped: Mapping[str, ShippedWorld]
) -> ShippedWorld:
    """Return what a joined world is opened from, given its worlds' own shipped data."""
    parts = tuple(world.name for world in environment.worlds)
    own = [shipped[name] for name in parts]
    files = {name: text for one in own for name, text in one.files.items()}
    document: dict[str, JsonValue] = {
        "name": environment.name,
        "worlds": [dict(one.document) for one in own],
    }
    return ShippedWorld(document, names_in_episodes(environment.tools), files, parts)


def open_shipped(shipped: Mapping[str, Any], folder: Path) -> StatefulWorld:
    """Open a shipped world, looking for its file in `folder`.

    Raises ConfigurationError if it is not a world.
    """
    try:
        if "worlds" in shipped:
            return JoinedWorld([open_shipped(one, folder) for one in shipped["worlds"]])
        if "description" in shipped:
            if shipped.get("version") != VERSION:
                raise ConfigurationError(
                    f"The world {shipped['name']!r} was exported by another version of callwright,"
                    " in which it holds other things; build and export its tasks again."
                )
            own = {name: shipped[name] for name in ("environment", "name", "seed", "effects")}
            size = shipped.get("response_size", "")
            settings = SimulatedSettings.model_validate(
                own | {"catalog": "shipped", "response_size": size}
            )
            rules = rules_of(shipped["rules"], shipped["name"]) if "rules" in shipped else None
            return _world_of_description(settings, description_from(shipped["description"]), rules)
        world_settings = {name: value for name, value in shipped.items() if name != "extension"}
        if "extension" in shipped:
            found = row_in_file(*file_of(shipped["extension"], folder))
            if not isinstance(found.row, World):
                raise TypeError(f"{shipped['extension']!r} is no World")
            WORLDS.add(found.row, found.source)
        row = WORLDS.named(world_settings["environment"])
        return world_of(row.open(row.settings.model_validate(world_settings), folder, str))
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        problem = f"The world {shipped.get('name')!r} can't be opened: {error}"
        raise ConfigurationError(problem) from error


HTTP = World("http", HttpSettings, _open_http)
MCP = World("mcp", McpSettings, _open_mcp)
RECORDED = World("recorded", RecordedSettings, _open_recorded)
SIMULATED = World("simulated", SimulatedSettings, _open_simulated)
_SIZES: tuple[ResponseSize, ...] = get_args(ResponseSize)
_ALONE = tuple(TravelSettings(environment="travel", response_size=size) for size in _SIZES)
TRAVEL = World("travel", TravelSettings, _open_travel, _ALONE)
