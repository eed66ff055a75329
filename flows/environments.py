"""The environments of a recipe, which answer the calls of its multi-step samples."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from callwright.flows.catalogs import (
    catalog_named,
    import_server,
    listed_in,
    tools_in,
    usable_catalog,
    with_catalogs,
)
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings, named_secret, open_warehouse, secret
from callwright.generators.catalogs.choosing import ToolChoice, choose
from callwright.generators.environments.episodes import StatefulWorld, is_changeable, world_of
from callwright.generators.environments.joined import JoinedEnvironment, JoinedWorld
from callwright.generators.environments.protocol import (
    Environment,
    EnvironmentPart,
    EnvironmentSettings,
    HttpSettings,
    McpSettings,
    SimulatedSettings,
)
from callwright.generators.kinds import kinds_with
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Tool
from callwright.warehouse.releases import ShippedWorld
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

if TYPE_CHECKING:
    from callwright.generators.catalogs.catalog import Problem
    from callwright.generators.environments.mcp_server import McpAddress
    from callwright.generators.environments.response_store import Drift

STORE = "responses.sqlite"


@contextmanager
def open_environments(recipe: Recipe, home: Path) -> Iterator[Mapping[str, Environment]]:
    """Open the recipe's environments, by name; their answers are kept in the work folder `home`.

    Raises ConfigurationError where two have the same name or one can't be opened.
    """
    sources = environments_of(recipe)
    if not sources:  # most recipes; what asks servers takes a while to load
        yield {}
        return
    from callwright.generators.environments.opening import open_environment
    from callwright.generators.environments.stored import StoredEnvironment

    with ExitStack() as opened:
        environments: dict[str, Environment] = {}
        for settings in sources:
            environment = open_environment(settings, store=home / STORE, secret=named_secret)
            if environment.name in environments:
                raise ConfigurationError(
                    f"Two environments of the recipe {recipe.name!r} are named "
                    f"{environment.name!r}. Give one of them another name."
                )
            if isinstance(environment, StoredEnvironment):
                opened.enter_context(closing(environment))
            environments[environment.name] = environment
        if not recipe.samples.keys().isdisjoint(
            kinds_with(lambda one: one.is_task and one.is_cross_domain)
        ):
            joined = [one for one in environments.values() if is_changeable(one)]
            environments |= {
                one.name: one for one in [JoinedEnvironment(joined)] if len(joined) > 1
            }
        yield environments


def ship_worlds(
    warehouse: Warehouse, release: str, home: Path, without: Sequence[str] = ()
) -> dict[str, ShippedWorld]:
    """Return the worlds of a release's tasks by name, but those of the kinds in `without`.

    Raises ConfigurationError where one can't be opened any more, or two builds mean different
    worlds by one name.
    """
    from callwright.generators.environments.opening import join_shipped, ship_world

    kinds = [kind for kind in kinds_with(lambda traits: traits.is_task) if kind not in without]
    shipped_worlds: dict[str, ShippedWorld] = {}
    for row in warehouse.rows(sql("path_runs.builds"), [release, kinds]):
        recipe = Recipe.model_validate_json(row["body"])
        with open_environments(recipe, home) as opened:
            settings = {
                one.name: one for one in environments_of(recipe) if is_changeable(opened[one.name])
            }
            own = {name: ship_world(opened[name], one) for name, one in settings.items()}
            joined = [one for one in opened.values() if isinstance(one, JoinedEnvironment)]
            own |= {one.name: join_shipped(one, own) for one in joined}
        for name, shipped in own.items():
            if shipped_worlds.setdefault(name, shipped) != shipped:
                raise ConfigurationError(
                    f"Builds of {release!r} mean different worlds by the name {name!r}; put their"
                    " tasks into releases of their own."
                )
    return shipped_worlds


def open_world(recipe: Recipe, settings: Settings) -> StatefulWorld:
    """Return the simulated world of a recipe; several are joined into one.

    Raises ConfigurationError where it has none, two have a tool of the same name, or one can't be
    opened.
    """
    if any(
        isinstance(source, SimulatedSettings) and source.catalog
        for source in environments_of(recipe)
    ):
        _look_up_documents(recipe, settings)
    own = recipe.model_copy(update={"samples": {}})
    with open_environments(own, settings.ledger.parent) as environments:
        worlds = [world_of(one) for one in environments.values() if is_changeable(one)]
    if not worlds:
        raise ConfigurationError(
            f"The recipe {recipe.name!r} has no simulated world. Add one to its tools: `- "
            "{environment: simulated, import: openapi, path: api.yaml}`."
        )
    return worlds[0] if len(worlds) == 1 else JoinedWorld(worlds)


async def explore_environments(recipe: Recipe, settings: Settings) -> None:
    """Ask live servers once what their documents leave open, before a build is opened."""
    _look_up_documents(recipe, settings)
    recipe = with_catalogs(recipe, open_warehouse(settings))
    servers = _servers(recipe)
    if not servers:
        return
    from callwright.generators.environments.exploring import explore_environment

    with open_environments(recipe, settings.ledger.parent) as environments:
        for server in servers:
            await explore_environment(server, environments[server.name])


def _look_up_documents(recipe: Recipe, settings: Settings) -> None:
    """Keep the tools of simulated environments, to open them without warehouse and documents."""
    simulated = [
        source for source in environments_of(recipe) if isinstance(source, SimulatedSettings)
    ]
    if not simulated:
        return
    from callwright.generators.environments.opening import describe_simulated

    warehouse = open_warehouse(settings)
    for source in simulated:
        if source.path is not None:
            kept_catalog = usable_catalog(warehouse, source.format, source.path)
        else:
            kept_catalog = catalog_named(warehouse, source.catalog)
        tools = tools_in(warehouse, kept_catalog.key, source)
        describe_simulated(
            source,
            tools,
            choose(listed_in(warehouse, kept_catalog.key), source),
            settings.ledger.parent / STORE,
        )


def responses_of(recipe: Recipe, settings: Settings) -> dict[str, list[Row]]:
    """Return the rows of what a recipe's live servers answered, and of calls without an answer."""
    servers = _servers(recipe)
    if not servers:
        return {}
    from callwright.generators.environments.response_store import (
        ResponseStore,
        lapse_rows,
        response_rows,
    )

    with closing(ResponseStore(settings.ledger.parent / STORE)) as store:
        return {
            "responses": [row for server in servers for row in response_rows(store, server.name)],
            "lapses": [row for server in servers for row in lapse_rows(store, server.name)],
        }


async def refresh_environments(recipe: Recipe, settings: Settings) -> "list[Drift]":
    """Ask a recipe's live servers all stored calls again; return those answered otherwise."""
    from callwright.generators.environments.stored import StoredEnvironment

    drifts: list[Drift] = []
    recipe = with_catalogs(recipe, open_warehouse(settings))
    with open_environments(recipe, settings.ledger.parent) as environments:
        for server in _servers(recipe):
            environment = environments[server.name]
            if isinstance(environment, StoredEnvironment):
                await environment.refresh_all()
                drifts += environment.drifted()
    return drifts


def mcp_address(command: str, url: str, variables: Mapping[str, str]) -> "McpAddress":
    """Return where an MCP server is. Raises ConfigurationError where one of `variables` is not set.

    The variables hold its secrets.
    """
    from callwright.generators.environments.mcp_server import McpAddress
    from callwright.generators.environments.opening import secrets_of

    return McpAddress(
        words_of(command), url, tuple(secrets_of(variables, secret).items()), Path.cwd()
    )


def words_of(command: str) -> tuple[str, ...]:
    """Split a command into words. Raises ConfigurationError where its quotes don't end."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigurationError(f"The command {command!r} can't be read ({error}).") from error


class Listed(NamedTuple):
    """A recipe whose live `servers` are simulated by what they list.

    `problems` are those of their lists; `unheard` says why others could not be asked.
    """

    recipe: Recipe
    servers: tuple[str, ...] = ()
    problems: "tuple[Problem, ...]" = ()
    unheard: tuple[str, ...] = ()


async def listed_instead(recipe: Recipe, settings: Settings, elsewhere: Settings) -> Listed:
    """Return the recipe with each live server simulated by its document or list, none called.

    Lists are kept `elsewhere`. Raises ConfigurationError where nothing of a server may be called.
    """
    recipe = with_catalogs(recipe, open_warehouse(settings))
    servers = _servers(recipe)
    if not servers:
        return Listed(recipe)
    from callwright.generators.environments.endpoints import catalog_of
    from callwright.generators.environments.mcp_server import UnheardError
    from callwright.generators.environments.opening import listed_endpoints

    worlds: dict[str, SimulatedSettings] = {}
    problems: list[Problem] = []
    unheard: list[str] = []
    for server in servers:
        try:
            listed = await listed_endpoints(server, named_secret)
        except UnheardError as error:
            unheard.append(str(error))
            continue
        problems += listed.problems
        catalog = f"listed by {server.name}"
        import_server(
            open_warehouse(elsewhere),
            catalog_of(listed.endpoints),
            server.name,
            ToolChoice(),
            catalog,
        )
        worlds[server.name] = SimulatedSettings(
            environment="simulated", name=server.name, catalog=catalog
        )
    tools = [
        worlds[one.name] if one in servers else one
        for one in recipe.tools
        if one not in servers or one.name in worlds
    ]
    simulated = recipe.model_copy(update={"tools": tuple(tools)})
    return Listed(simulated, tuple(worlds), tuple(problems), tuple(unheard))


def _servers(recipe: Recipe) -> list[HttpSettings | McpSettings]:
    return [
        source
        for source in environments_of(recipe)
        if isinstance(source, HttpSettings | McpSettings)
    ]


def environment_tools(recipe: Recipe, settings: Settings) -> dict[str, tuple[Tool, ...]]:
    """Return the tools of each environment of a recipe, by its name."""
    if not environments_of(recipe):
        return {}
    from callwright.generators.environments.stored import DescribedEnvironment

    with open_environments(recipe, settings.ledger.parent) as environments:
        return {
            name: one.offered if isinstance(one, DescribedEnvironment) else one.tools
            for name, one in environments.items()
            if not isinstance(one, JoinedEnvironment)
        }


def told_of_policies(recipe: Recipe, settings: Settings) -> list[str]:
    """Return remarks on a recipe's policies. Raises ConfigurationError that names wrong ones."""
    if not recipe.policies:
        return []
    from callwright.generators.policies.surveying import survey_policies

    with open_environments(recipe, settings.ledger.parent) as environments:
        policy_problems = [*survey_policies(recipe.policies, environments.values())]
    if wrong := [one.message for one in policy_problems if not one.is_remark]:
        problem = f"The policies of the recipe {recipe.name!r} are wrong: {'; '.join(wrong)}."
        raise ConfigurationError(problem)
    return [f"{one.message[0].upper()}{one.message[1:]}." for one in policy_problems]


def environments_of(recipe: Recipe) -> list[EnvironmentSettings]:
    """Return the sources of a recipe's tools that answer calls."""
    return [source for source in recipe.tools if isinstance(source, EnvironmentPart)]
