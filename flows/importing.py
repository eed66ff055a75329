"""What others made: the tools of a recipe's sources, and samples frozen as a release of their own."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from callwright.flows.catalogs import catalog_named, import_catalog, problems_in, tools_in
from callwright.flows.recipe import (
    CatalogTools,
    DomainTools,
    GeneratedTools,
    OwnTools,
    Recipe,
    SeedTools,
)
from callwright.generators.catalogs import Problem
from callwright.generators.catalogs.domain_catalogs import domain_tools
from callwright.generators.catalogs.seed_catalog import seed_tools
from callwright.generators.environments.protocol import EnvironmentPart
from callwright.generators.imports.table import SOURCES
from callwright.generators.kinds import kind_rows
from callwright.language.packs import fallback
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Language, Release, Tool
from callwright.warehouse.releases import check_release_name, freeze, list_releases
from callwright.warehouse.store import Warehouse

_AT_ONCE = 500  # records that are in memory together
Made = Mapping[GeneratedTools, Sequence[Tool]]
_NOTHING: Made = MappingProxyType({})


class ImportedRelease(NamedTuple):
    """The release, how many records can't be samples, and all that was found odd."""

    release: Release
    left_out: int
    problems: list[Problem]


def import_release(warehouse: Warehouse, name: str, form: str, path: Path) -> ImportedRelease:
    """Keep the samples of a file or folder with their tools, and freeze them under a name.

    Raises ConfigurationError for an unknown format, a name that is taken, or where there is no sample.
    """
    check_release_name(name)
    source = SOURCES.named(form)
    is_new = all(one.name != name for one in list_releases(warehouse))
    keys: set[str] = set()
    problems: list[Problem] = []
    left_out = 0
    read = iter(source.read(path))
    while records := list(islice(read, _AT_ONCE)):
        found = {record.sample.key: record for record in records if record.sample is not None}
        problems += [problem for record in records for problem in record.problems]
        left_out += sum(record.sample is None for record in records)
        if is_new and found.keys() - keys:
            records = [found[key] for key in found.keys() - keys]
            tools = {tool.key: tool for record in records for tool in record.tools}
            warehouse.put([*tools.values(), *(record.sample for record in records if record.sample is not None)])
        keys |= found.keys()
    if not keys:
        raise ConfigurationError(f"{str(path)!r} holds no sample in the format {form!r}.")
    if is_new:
        warehouse.put_rows({"kinds": kind_rows()})
    return ImportedRelease(freeze(warehouse, name, sorted(keys), f"Imported from {form}."), left_out, problems)


class DistinctTools(NamedTuple):
    """Distinct tools, and what was odd in the files they came from."""

    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...]


def gather_tools(
    recipe: Recipe,
    warehouse: Warehouse,
    made: Made = _NOTHING,
    answering: Mapping[str, Sequence[Tool]] = MappingProxyType({}),
) -> DistinctTools:
    """Every tool the recipe names, once; `made` are those that were made for it, `answering` those of its environments.

    What is imported is read once, and kept in the warehouse. Raises ConfigurationError where a source has no tool.
    """
    tools: dict[str, Tool] = {}
    problems: list[Problem] = []
    for source in recipe.tools:
        if isinstance(source, SeedTools):
            found: Sequence[Tool] = _seeds(source, recipe.languages)
        elif isinstance(source, OwnTools):
            found = source.own
        elif isinstance(source, GeneratedTools):
            found = made.get(source, ())
        elif isinstance(source, DomainTools):
            found = domain_tools(() if source.domains == "all" else source.domains)
        elif isinstance(source, EnvironmentPart):
            found = answering.get(source.name, ())
        elif isinstance(source, CatalogTools):
            found = tools_in(warehouse, catalog_named(warehouse, source.catalog).key, source)
        else:
            kept = import_catalog(warehouse, source.format, source.path)
            if not kept.tools:
                raise ConfigurationError(f"The {source.format} catalog {kept.path!r} has no usable tool.")
            found, odd = (tools_in(warehouse, kept.key, source), problems_in(warehouse, kept.key))
            problems += odd
        tools.update((tool.key, tool) for tool in found)
    return DistinctTools(tuple(tools.values()), tuple(problems))


def _seeds(source: SeedTools, languages: tuple[Language, ...]) -> list[Tool]:
    tools = seed_tools(languages) or seed_tools([fallback()])  # a model words requests of these in other languages
    if source.seed == "all":
        return tools
    known = {tool.category for tool in tools}
    unknown = sorted(set(source.seed) - known)
    if unknown:
        raise ConfigurationError(f"The seed catalog has no categories {unknown}; it has {', '.join(sorted(known))}.")
    return [tool for tool in tools if tool.category in source.seed]
