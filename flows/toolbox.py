"""The tools of a recipe: what it imports, what it takes of the seed catalog, and what was made for it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from flows.recipe import DomainTools, GeneratedTools, Recipe, SeedTools
from generators.catalogs import Problem, read_catalog
from generators.catalogs.domain_catalogs import domain_tools
from generators.catalogs.seed_catalog import seed_tools
from generators.environments.protocol import EnvironmentPart
from warehouse.errors import ConfigurationError
from warehouse.records import Language, Tool


class Toolbox(NamedTuple):
    """Distinct tools, and what was odd in the files they came from."""

    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...]


Made = Mapping[GeneratedTools, Sequence[Tool]]
_NOTHING: Made = MappingProxyType({})


def gather_tools(
    recipe: Recipe, made: Made = _NOTHING, answering: Mapping[str, Sequence[Tool]] = MappingProxyType({})
) -> Toolbox:
    """Every tool the recipe names, once; `made` are those that were made for it, `answering` those of its environments.

    Raises ConfigurationError where a source has none.
    """
    tools: dict[str, Tool] = {}
    problems: list[Problem] = []
    for source in recipe.tools:
        if isinstance(source, SeedTools):
            found: Sequence[Tool] = _seeds(source, recipe.languages)
        elif isinstance(source, GeneratedTools):
            found = made.get(source, ())
        elif isinstance(source, DomainTools):
            found = domain_tools(() if source.domains == "all" else source.domains)
        elif isinstance(source, EnvironmentPart):
            found = answering.get(source.name, ())
        else:
            catalog = read_catalog(source.format, source.path)
            found = catalog.tools
            problems += catalog.problems
            if not found:
                raise ConfigurationError(f"The {source.format} catalog {str(source.path)!r} has no usable tool.")
        tools.update((tool.key, tool) for tool in found)
    return Toolbox(tuple(tools.values()), tuple(problems))


def _seeds(source: SeedTools, languages: tuple[Language, ...]) -> list[Tool]:
    tools = seed_tools(languages)
    if source.seed == "all":
        return tools
    known = {tool.category for tool in tools}
    unknown = sorted(set(source.seed) - known)
    if unknown:
        raise ConfigurationError(f"The seed catalog has no categories {unknown}; it has {', '.join(sorted(known))}.")
    return [tool for tool in tools if tool.category in source.seed]
