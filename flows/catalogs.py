"""The tools of a recipe, and catalogs in the warehouse.

A catalog is imported once, keyed by its content, and used by a name that the user gives it.
"""

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import orjson

from callwright.flows.recipe import (
    CatalogTools,
    DomainTools,
    GeneratedTools,
    OwnTools,
    Recipe,
    SeedTools,
)
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.catalog import (
    Catalog,
    Problem,
    StatedError,
    StatedLink,
    weightiest_first,
)
from callwright.generators.catalogs.choosing import (
    ListedTool,
    ToolChoice,
    adapt,
    choose,
    listed_tools,
)
from callwright.generators.catalogs.own_catalogs import domain_tools, seed_tools
from callwright.generators.environments.protocol import (
    EnvironmentPart,
    HttpSettings,
    ServerSettings,
    SimulatedSettings,
)
from callwright.language.packs import fallback
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Language, Tool, content_key
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

READER_VERSION = 9  # raised when the same files would be read as other tools
_AT_ONCE = 50  # tools that are written together: those of some documents are a megabyte each
_ALL = ToolChoice()
Made = Mapping[GeneratedTools, Sequence[Tool]]
_NOTHING: Made = MappingProxyType({})


class KeptCatalog(NamedTuple):
    """An imported catalog in the warehouse; `name` is "" if no user has named it."""

    key: str
    name: str
    format: str
    path: str
    selection: ToolChoice
    entries: int
    distinct: int
    tools: int
    imported_at: datetime


def import_catalog(
    warehouse: Warehouse,
    form: str,
    path: Path | Sequence[Path],
    choice: ToolChoice = _ALL,
    *,
    name: str = "",
) -> KeptCatalog:
    """Import a catalog from files or a folder unless it is known, and keep the chosen part.

    It is kept under `name` if one is given. Raises ConfigurationError if it cannot be read, or
    the choice does not fit.
    """
    return _chosen(warehouse, _base(warehouse, form, path), choice, name)


def import_server(
    warehouse: Warehouse, catalog: Catalog, origin: str, choice: ToolChoice, name: str
) -> KeptCatalog:
    """Store the tools that an MCP server listed just now; `origin` is its command or URL.

    Raises ConfigurationError as `import_catalog`.
    """
    key = content_key([READER_VERSION, "mcp", origin, *[tool.key for tool in catalog.tools]])
    _keep(
        warehouse,
        _head(key, "mcp", origin, catalog, []),
        catalog.tools,
        listed_tools(catalog),
        catalog.problems,
    )
    return _chosen(warehouse, key, choice, name)


def with_catalogs(recipe: Recipe, warehouse: Warehouse) -> Recipe:
    """Return the recipe with its server catalogs resolved to a document, command or URL.

    Each gets the choice of its catalog. Raises ConfigurationError if there is no such catalog,
    it holds something else, or its document has changed since.
    """
    if not any(isinstance(source, ServerSettings) and source.catalog for source in recipe.tools):
        return recipe
    tools = [
        _found(one, warehouse) if isinstance(one, ServerSettings) and one.catalog else one
        for one in recipe.tools
    ]
    return recipe.model_copy(update={"tools": tuple(tools)})


def _found(source: ServerSettings, warehouse: Warehouse) -> ServerSettings:
    kept_catalog = catalog_named(warehouse, source.catalog)
    files = orjson.loads(_rows(warehouse, kept_catalog.key)[0]["files"])
    if isinstance(source, HttpSettings):
        fits = kept_catalog.format == "openapi" and os.pathsep not in kept_catalog.path
        origin: dict[str, object] = {"path": Path(kept_catalog.path)}
    else:
        is_url = kept_catalog.path.startswith(("http://", "https://"))
        fits = is_from_server(warehouse, kept_catalog)
        if is_url:
            origin = {"url": kept_catalog.path}
        else:
            origin = {"command": tuple(shlex.split(kept_catalog.path))}
    if not fits:
        raise ConfigurationError(
            f"The catalog {kept_catalog.name!r} was read from {kept_catalog.path}"
            f" ({kept_catalog.format}), which this environment cannot use. http takes one OpenAPI"
            " file; mcp takes what was imported with --server or --url."
        )
    if _hashes([Path(name) for name, _ in files]) != files:
        raise ConfigurationError(
            f"{kept_catalog.path} has changed since the catalog {kept_catalog.name!r} was imported."
            " Import it again."
        )
    chosen = {name: getattr(kept_catalog.selection, name) for name in ToolChoice.model_fields}
    return source.model_copy(update={**chosen, **origin, "catalog": ""})


def _chosen(warehouse: Warehouse, base: str, choice: ToolChoice, name: str) -> KeptCatalog:
    """Return the chosen part of a catalog as a catalog of its own, under the name if any."""
    if choice == _ALL:
        key = base
    else:
        key = content_key({"catalog": base, "choice": choice.model_dump(mode="json")})
    if key != base and not _rows(warehouse, key):
        chosen = choose(listed_in(warehouse, base), choice)
        tools = adapt(_read(warehouse, [one.key for one in chosen]), choice)
        selection = choice.model_dump_json(exclude_defaults=True)
        head = _rows(warehouse, base)[0] | {
            "key": key,
            "selection": selection,
            "imported_at": datetime.now(UTC),
        }
        kept = [one._replace(key=tool.key) for one, tool in zip(chosen, tools, strict=True)]
        _keep(warehouse, head, tools, kept, problems_in(warehouse, base))
    if name:
        warehouse.put_rows(
            {"catalog_names": [{"name": name, "catalog": key, "named_at": datetime.now(UTC)}]}
        )
    return _kept(_rows(warehouse, key)[0], name)


def catalogs_in(warehouse: Warehouse) -> list[KeptCatalog]:
    """Return the catalogs that have names, by name."""
    rows = warehouse.rows(sql("catalogs.named"))
    return [_kept(row, row["name"]) for row in rows]


def catalog_named(warehouse: Warehouse, name: str) -> KeptCatalog:
    """Return the catalog with this name. Raises ConfigurationError that lists the catalogs."""
    named_catalogs = catalogs_in(warehouse)
    for one in named_catalogs:
        if one.name == name:
            return one
    names = ", ".join(one.name for one in named_catalogs)
    hint = (
        "There are no catalogs yet; import one, such as `callwright tools import openapi"
        " api.yaml --name NAME`."
    )
    if names:
        hint = f"The catalogs are {names}."
    raise ConfigurationError(f"No catalog is named {name!r}. {hint}")


def is_from_server(warehouse: Warehouse, kept: KeptCatalog) -> bool:
    """Whether a catalog is what an MCP server listed, and was not read from files."""
    return kept.format == "mcp" and not orjson.loads(_rows(warehouse, kept.key)[0]["files"])


def drop_catalog(warehouse: Warehouse, name: str) -> KeptCatalog:
    """Remove a catalog's name; its tools stay for the builds that used them.

    Raises ConfigurationError for an unknown name.
    """
    dropped = catalog_named(warehouse, name)
    warehouse.execute("delete from catalog_names where name = ?", [name])
    return dropped


def usable_catalog(warehouse: Warehouse, form: str, path: Path | Sequence[Path]) -> KeptCatalog:
    """Import a catalog. Raise ConfigurationError that says why if no tool in it can be used."""
    kept = import_catalog(warehouse, form, path)
    if not kept.tools:
        problems = weightiest_first(problems_in(warehouse, kept.key))[:1]
        reason = "".join(f" {one.message}" for one in problems)
        raise ConfigurationError(f"The {form} catalog {kept.path!r} has no usable tools.{reason}")
    return kept


def tools_in(warehouse: Warehouse, key: str, choice: ToolChoice = _ALL) -> list[Tool]:
    """Return the tools of a catalog by its key, or those chosen; only those are read."""
    chosen = choose(listed_in(warehouse, key), choice)
    return adapt(_read(warehouse, [one.key for one in chosen]), choice)


def listed_in(warehouse: Warehouse, key: str) -> list[ListedTool]:
    """Return the entries that a catalog's tools are chosen by, in the order of the document."""
    rows = warehouse.rows(sql("catalogs.listed"), [key])
    for row in rows:
        row["tags"] = tuple(row["tags"])
        row["links"] = tuple(StatedLink(*one) for one in orjson.loads(row["links"] or "[]"))
        row["errors"] = tuple(StatedError(*one) for one in orjson.loads(row["errors"] or "[]"))
    return [ListedTool(**row) for row in rows]


def problems_in(warehouse: Warehouse, key: str) -> list[Problem]:
    """Return the problems in the files of a catalog, in their order."""
    rows = warehouse.rows(
        "select * from catalog_problems where catalog = ? order by position", [key]
    )
    return [
        Problem(where=one["place"], tool=one["tool"], kind=one["kind"], message=one["message"])
        for one in rows
    ]


class PlumbingParameter(NamedTuple):
    """A parameter that no plan chooses, the number of tools with it, and where it is required."""

    parameter: str
    tools: int
    required: int


def plumbing_in(warehouse: Warehouse, key: str) -> list[PlumbingParameter]:
    """Return the parameters of a catalog's tools that no plan chooses, the most frequent first."""
    return [PlumbingParameter(**row) for row in warehouse.rows(sql("catalogs.plumbing"), [key])]


@contextmanager
def aside(recipe: Recipe, settings: Settings) -> Iterator[Settings]:
    """Yield settings of a temporary work folder with its own ledger and the recipe's catalogs."""
    with tempfile.TemporaryDirectory(prefix="callwright-aside-") as folder:
        home = Path(folder)
        other = settings.aside(home)._replace(ledger=home / "ledger.sqlite", prefect_api_url="")
        if any(map(_names_catalog, recipe.tools)):
            lend_catalogs(recipe, open_warehouse(settings), open_warehouse(other))
        yield other


def _names_catalog(source: object) -> bool:
    return isinstance(source, CatalogTools) or (
        isinstance(source, SimulatedSettings) and bool(source.catalog)
    )


def lend_catalogs(recipe: Recipe, warehouse: Warehouse, other: Warehouse) -> None:
    """Copy the catalogs that a recipe names into another warehouse, for a temporary build."""
    for source in recipe.tools:
        if isinstance(source, CatalogTools | SimulatedSettings) and _names_catalog(source):
            kept_catalog = catalog_named(warehouse, source.catalog)
            listed = listed_in(warehouse, kept_catalog.key)
            tools = _read(warehouse, [one.key for one in listed])
            _keep(other, _rows(warehouse, kept_catalog.key)[0], tools, listed, ())
            named = {
                "name": source.catalog,
                "catalog": kept_catalog.key,
                "named_at": datetime.now(UTC),
            }
            other.put_rows({"catalog_names": [named]})


def _base(warehouse: Warehouse, form: str, path: Path | Sequence[Path]) -> str:
    """Return the key of the import of these files; they are read if new or changed."""
    wanted = os.pathsep.join(
        str(one.absolute()) for one in ([path] if isinstance(path, Path) else path)
    )
    before = warehouse.rows(
        "select key, files from catalogs where format = ? and path = ? and selection = '{}' order"
        " by imported_at desc",
        [form, wanted],
    )
    for row in before:
        files = [Path(name) for name, _ in orjson.loads(row["files"])]
        if files and _base_key(form, wanted, _hashes(files)) == row["key"]:
            return str(row["key"])
    catalog = read_catalog(form, path)
    hashes = _hashes(catalog.files)
    key = _base_key(form, wanted, hashes or [[tool.key, ""] for tool in catalog.tools])
    head = _head(key, form, wanted, catalog, hashes)
    _keep(warehouse, head, catalog.tools, listed_tools(catalog), catalog.problems)
    return key


def _head(key: str, form: str, path: str, catalog: Catalog, hashes: list[list[str]]) -> Row:
    return {
        "key": key,
        "format": form,
        "path": path,
        "files": orjson.dumps(hashes).decode(),
        "selection": "{}",
        "entries": catalog.entries,
        "distinct_names": catalog.distinct,
        "imported_at": datetime.now(UTC),
    }


def _base_key(form: str, path: str, hashes: list[list[str]]) -> str:
    return content_key(orjson.loads(orjson.dumps([READER_VERSION, form, path, hashes])))


def _hashes(files: Sequence[Path]) -> list[list[str]]:
    """Return each file with the hash of its content; "" if it is gone."""
    return [
        [
            str(file.absolute()),
            blake2b(file.read_bytes(), digest_size=16).hexdigest() if file.is_file() else "",
        ]
        for file in files
    ]


def _keep(
    warehouse: Warehouse,
    head: Row,
    tools: Sequence[Tool],
    listed: Sequence[ListedTool],
    problems: Sequence[Problem],
) -> None:
    """Store a catalog, its head last, so that an interrupted import is repeated."""
    rows: list[Row] = [
        {
            "catalog": head["key"],
            "position": position,
            "tool": one.key,
            "method": one.method,
            "path": one.path,
            "tags": list(one.tags),
            "links": orjson.dumps([list(link) for link in one.links]).decode(),
            "declared_errors": orjson.dumps([list(error) for error in one.errors]).decode(),
        }
        for position, one in enumerate(listed)
    ]
    odd: list[Row] = [
        {
            "catalog": head["key"],
            "position": position,
            "place": one.where,
            "tool": one.tool,
            "kind": one.kind,
            "message": one.message,
        }
        for position, one in enumerate(problems)
    ]
    with warehouse.together():
        for start in range(0, len(tools), _AT_ONCE):
            warehouse.put(tools[start : start + _AT_ONCE])
        row = {name: value for name, value in head.items() if name != "tools"}
        warehouse.put_rows({"catalog_tools": rows, "catalog_problems": odd, "catalogs": [row]})


def _read(warehouse: Warehouse, keys: Sequence[str]) -> list[Tool]:
    found = read_tools(warehouse, keys)
    return [found[key] for key in keys]


def _rows(warehouse: Warehouse, key: str) -> list[Row]:
    return warehouse.rows(sql("catalogs.kept"), [key])


def _kept(row: Row, name: str) -> KeptCatalog:
    return KeptCatalog(
        row["key"],
        name,
        row["format"],
        row["path"],
        ToolChoice.model_validate_json(row["selection"]),
        row["entries"],
        row["distinct_names"],
        row["tools"],
        row["imported_at"],
    )


def catalog_json(kept: KeptCatalog) -> dict[str, object]:
    """Return a catalog as the command line prints it."""
    chosen = kept.selection.model_dump(mode="json", exclude_defaults=True)
    return kept._asdict() | {"selection": chosen, "imported_at": kept.imported_at.isoformat()}


class DistinctTools(NamedTuple):
    """Distinct tools, and the problems in the files they came from."""

    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...]


def gather_tools(
    recipe: Recipe,
    warehouse: Warehouse,
    made: Made = _NOTHING,
    answering: Mapping[str, Sequence[Tool]] = MappingProxyType({}),
) -> DistinctTools:
    """Return every tool that the recipe names, once.

    `made` are tools that were made for it, `answering` those of its environments. Imports are
    read once and kept in the warehouse. Raises ConfigurationError if a source has no tool.
    """
    tools: dict[str, Tool] = {}
    problems: list[Problem] = []
    for source in recipe.tools:
        if isinstance(source, SeedTools):
            source_tools: Sequence[Tool] = _seeds(source, recipe.languages)
        elif isinstance(source, OwnTools):
            source_tools = source.own
        elif isinstance(source, GeneratedTools):
            source_tools = made.get(source, ())
        elif isinstance(source, DomainTools):
            source_tools = domain_tools(() if source.domains == "all" else source.domains)
        elif isinstance(source, EnvironmentPart):
            source_tools = answering.get(source.name, ())
        elif isinstance(source, CatalogTools):
            source_tools = tools_in(warehouse, catalog_named(warehouse, source.catalog).key, source)
        else:
            imported_catalog = usable_catalog(warehouse, source.format, source.path)
            source_tools, odd = (
                tools_in(warehouse, imported_catalog.key, source),
                problems_in(warehouse, imported_catalog.key),
            )
            problems += odd
        tools.update((tool.key, tool) for tool in source_tools)
    return DistinctTools(tuple(tools.values()), tuple(problems))


def _seeds(source: SeedTools, languages: tuple[Language, ...]) -> list[Tool]:
    # a model words requests of these in other languages
    tools = seed_tools(languages) or seed_tools([fallback()])
    if source.seed == "all":
        return tools
    seed_categories = {tool.category for tool in tools}
    unknown = sorted(set(source.seed) - seed_categories)
    if unknown:
        raise ConfigurationError(
            f"The seed catalog has no categories {unknown}. It has"
            f" {', '.join(sorted(seed_categories))}."
        )
    return [tool for tool in tools if tool.category in source.seed]
