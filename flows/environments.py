"""The environments of a recipe: what answers the calls of its multi-step samples."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from flows.recipe import Recipe
from flows.settings import Settings, secret
from generators.environments.opening import EnvironmentPart, EnvironmentSettings, explore_environment, open_environment
from generators.environments.protocol import Environment
from generators.environments.store import StoredEnvironment
from warehouse.errors import ConfigurationError
from warehouse.records import Tool

STORE = "responses.sqlite"


@contextmanager
def open_environments(recipe: Recipe, home: Path) -> Iterator[Mapping[str, Environment]]:
    """The recipe's environments by name, what they answer kept in the work folder.

    Raises ConfigurationError where two have the same name or one can't be opened.
    """
    with ExitStack() as opened:
        environments: dict[str, Environment] = {}
        for settings in environments_of(recipe):
            environment = open_environment(settings, store=home / STORE, secret=secret)
            if environment.name in environments:
                raise ConfigurationError(
                    f"Two environments of the recipe {recipe.name!r} are named {environment.name!r}."
                )
            if isinstance(environment, StoredEnvironment):
                opened.enter_context(closing(environment))
            environments[environment.name] = environment
        yield environments


async def explore_environments(recipe: Recipe, settings: Settings) -> None:
    """Ask live servers once what their documents leave open; to be awaited before a build is opened."""
    with open_environments(recipe, settings.home) as environments:
        for source in environments_of(recipe):
            await explore_environment(source, environments[source.name])


def environment_tools(recipe: Recipe, settings: Settings) -> dict[str, tuple[Tool, ...]]:
    """The tools of each environment of a recipe, by its name."""
    with open_environments(recipe, settings.home) as environments:
        return {name: environment.tools for name, environment in environments.items()}


def environments_of(recipe: Recipe) -> list[EnvironmentSettings]:
    """The sources of a recipe's tools that answer calls."""
    return [source for source in recipe.tools if isinstance(source, EnvironmentPart)]
