"""Tools that are fetched again, and how they differ from before: new, gone or changed, in what."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from callwright.flows.catalogs import catalog_named, import_catalog, import_server, is_from_server
from callwright.flows.environments import STORE, environments_of, mcp_address
from callwright.flows.evaluation.tool_changes import without_words
from callwright.flows.recipe import CatalogTools, Recipe
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.environments.mcp import read_server
from callwright.generators.environments.mcp_server import LIST_PATIENCE, UnheardError
from callwright.generators.environments.protocol import (
    McpSettings,
    ServerSettings,
    SimulatedSettings,
)
from callwright.generators.environments.response_store import ResponseStore
from callwright.warehouse.errors import TransientError
from callwright.warehouse.records import Tool

Difference = Literal["new", "gone", "schema", "words"]
_MOST_NAMED = 6


class ToolDifference(NamedTuple):
    """A tool that differs: it is new or gone, its schema differs, or nothing but words does.

    `parts` say in what, such as ("parameter city", "description").
    """

    tool: str
    language: str
    difference: Difference
    parts: tuple[str, ...] = ()


def compare_tools(before: Iterable[Tool], now: Iterable[Tool]) -> list[ToolDifference]:
    """Return the tools that differ, by name and language.

    >>> compare_tools([], [Tool(name="pay", description="", parameters={}, category="Bank")])
    [ToolDifference(tool='pay', language='en', difference='new', parts=())]
    """
    known, current = ({(tool.name, tool.language): tool for tool in one} for one in (before, now))
    found = []
    for name, language in sorted(known.keys() | current.keys()):
        old, new = known.get((name, language)), current.get((name, language))
        if old is None or new is None:
            found.append(ToolDifference(name, language, "gone" if new is None else "new"))
        elif old.key != new.key:
            found.append(_difference(old, new))
    return found


def _difference(old: Tool, new: Tool) -> ToolDifference:
    schema, words = [*_schema_parts(old, new)], [*_word_parts(old, new)]
    sort: Difference = "schema" if schema else "words"
    return ToolDifference(old.name, old.language, sort, (*schema, *words))


def _schema_parts(old: Tool, new: Tool) -> Iterator[str]:
    for name in dict.fromkeys((*old.properties, *new.properties)):
        if name not in new.properties:
            yield f"parameter {name} is gone"
        elif name not in old.properties:
            yield f"parameter {name} is new"
        elif without_words(old.properties[name]) != without_words(new.properties[name]):
            yield f"parameter {name}"
        elif (name in old.required) != (name in new.required):
            yield f"parameter {name} is {'required' if name in new.required else 'optional'}"
    if without_words(old.returns) != without_words(new.returns):
        yield "result"


def _word_parts(old: Tool, new: Tool) -> Iterator[str]:
    if old.description != new.description:
        yield "description"
    for name, schema in old.properties.items():
        other = new.properties.get(name, schema)
        if other != schema and without_words(other) == without_words(schema):
            yield f"description of {name}"


def told_of_differences(differences: Sequence[ToolDifference]) -> list[str]:
    """Return a sentence for each sort of difference.

    >>> told_of_differences([ToolDifference("pay", "en", "schema", ("parameter iban is new",))])
    ['1 tool has another schema: pay (parameter iban is new).']
    """
    told = {
        "new": ("1 tool is new", "{} tools are new"),
        "gone": ("1 tool is gone", "{} tools are gone"),
        "schema": ("1 tool has another schema", "{} tools have other schemas"),
        "words": ("1 tool has other words", "{} tools have other words"),
    }
    lines = []
    for sort, (single, several) in told.items():
        some = [one for one in differences if one.difference == sort]
        if some:
            named = ", ".join(
                f"{one.tool} ({', '.join(one.parts)})" if one.parts else one.tool
                for one in some[:_MOST_NAMED]
            )
            more = f" and {len(some) - _MOST_NAMED} more" if len(some) > _MOST_NAMED else ""
            lines.append(
                f"{single if len(some) == 1 else several.format(len(some))}: {named}{more}."
            )
    return lines


async def refresh_tools(recipe: Recipe, settings: Settings) -> None:
    """Fetch the tools of a recipe's catalogs and MCP servers again.

    Files that a recipe itself imports are looked at by every build. Raises TransientError if a
    server can't be asked, ConfigurationError if a catalog's document can't be read any more.
    """
    may_name = CatalogTools | SimulatedSettings | ServerSettings
    named = [one.catalog for one in recipe.tools if isinstance(one, may_name)]
    for name in filter(None, dict.fromkeys(named)):
        await _import_again(name, settings)
    explored = [one.name for one in environments_of(recipe) if isinstance(one, McpSettings)]
    if explored:
        with closing(ResponseStore(settings.ledger.parent / STORE)) as store:
            for name in explored:
                store.forget_description(name)


async def _import_again(name: str, settings: Settings) -> None:
    """Import a named catalog from where it came from, with the same choice of tools."""
    warehouse = open_warehouse(settings)
    kept = catalog_named(warehouse, name)
    if not is_from_server(warehouse, kept):
        paths = [Path(one) for one in kept.path.split(os.pathsep)]
        files = paths if len(paths) > 1 else paths[0]
        import_catalog(warehouse, kept.format, files, kept.selection, name=name)
        return
    is_url = kept.path.startswith(("http://", "https://"))
    address = mcp_address("" if is_url else kept.path, kept.path if is_url else "", {})
    try:
        listed = await read_server(address, LIST_PATIENCE)
    except UnheardError as error:
        raise TransientError(
            f"The tools of the catalog {name!r} can't be fetched. {error}"
        ) from error
    import_server(warehouse, listed, kept.path, kept.selection, name)
