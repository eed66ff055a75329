"""Endpoints: tools of an OpenAPI document with the data to build their requests."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Catalog, StatedError, StatedLink, ToolOrigin
from callwright.generators.catalogs.choosing import ListedTool, ToolChoice, adapt, choose
from callwright.generators.catalogs.openapi import ParameterPlace, read_operations
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Original, Tool

SAFE = ("GET", "HEAD")
_ALL = ToolChoice()
_IN_PATH = re.compile(r"\{([^{}]+)\}")
_FORMAT = re.compile(r"\.(?:json|xml)$")


class Endpoint(NamedTuple):
    """A tool and its request: `path` is the template, `places` say where each parameter goes.

    `links` and `errors` are those that the document states for its response. `entry` is the
    parameter by which another path names one of the things at this path: "orderId" for
    /store/order, and for /store/order/{orderId} itself.
    """

    tool: Tool
    method: str
    path: str
    places: tuple[ParameterPlace, ...]
    tags: tuple[str, ...] = ()
    links: tuple[StatedLink, ...] = ()
    entry: str = ""
    errors: tuple[StatedError, ...] = ()


def read_endpoints(
    path: Path,
    *,
    allow: Sequence[str] = (),
    secrets: Iterable[str] = (),
    source: str = "openapi",
    choice: ToolChoice = _ALL,
) -> tuple[Endpoint, ...]:
    """Read the endpoints that may be called: those that only read, and those that `allow` names.

    `allow` holds methods ("POST"), or methods with a path pattern ("POST */filter"). `secrets`
    are headers that the environment sends itself, so they are no parameters. The tools get the
    source `source` and are adapted by `choice`; those that it excludes are here too (see
    `chosen_names`). Raises ConfigurationError if nothing is left.
    """
    builder, endpoints_by_name = CatalogBuilder("openapi"), dict[str, Endpoint]()
    declared_endpoints = [
        Endpoint(
            tool, one.method.upper(), one.path, one.places, one.tags, one.links, errors=one.errors
        )
        for one in read_operations(path)
        # of what may not be asked only where a choice speaks of tools by their names
        if (choice != _ALL or is_allowed(one.method, one.path, allow))
        and (tool := builder.put(one.draft, source)) is not None
    ]
    adapted = adapt([one.tool for one in declared_endpoints], choice)
    for endpoint, tool in zip(declared_endpoints, adapted, strict=True):
        # A call names its tool only, so of two tools with one name the first is kept.
        if tool.name not in endpoints_by_name and is_allowed(endpoint.method, endpoint.path, allow):
            kept = endpoint._replace(tool=tool)
            endpoints_by_name[tool.name] = _without_headers(
                kept, {header.lower() for header in secrets}
            )
    if not endpoints_by_name:
        raise ConfigurationError(
            f"The OpenAPI document {str(path)!r} has no operation that may be asked; allowed are"
            f" {', '.join(SAFE)} and {list(allow)}."
        )
    return _with_entries(endpoints_by_name.values())


def _with_entries(endpoints: Collection[Endpoint]) -> tuple[Endpoint, ...]:
    entry_names: dict[str, str] = {}
    for endpoint in endpoints:
        head, _, last = endpoint.path.rpartition("/")
        if named := _IN_PATH.fullmatch(last):
            entry_names |= {head: named[1], endpoint.path: named[1]}
    return tuple(one._replace(entry=entry_names.get(one.path, "")) for one in endpoints)


def chosen_names(
    endpoints: Sequence[Endpoint], choice: ToolChoice, only: Sequence[str] = ()
) -> frozenset[str]:
    """Return the recipe's names of the tools that it wants; no `only` patterns means all.

    Raises ConfigurationError if none is left.
    """
    own_names = {one.tool.name: one.tool.name for one in endpoints} | {
        new: old for old, new in choice.rename.items()
    }
    listed = [
        ListedTool(
            one.tool.name,
            own_names[one.tool.name],
            one.tool.category,
            one.method,
            one.path,
            one.tags,
        )
        for one in endpoints
    ]
    names = frozenset(one.key for one in choose(listed, choice) if is_wanted(one.key, only))
    if not names:
        raise ConfigurationError(f"None of the tools that may be called fits {', '.join(only)}.")
    return names


def with_values(
    endpoints: Sequence[Endpoint], values: Mapping[str, Sequence[JsonValue]]
) -> tuple[Endpoint, ...]:
    """Add example values to the endpoints' parameters, named as PARAMETER or TOOL.PARAMETER.

    Raises ConfigurationError if no tool has such a parameter.
    """
    parameter_names = {
        name
        for one in endpoints
        for key in one.tool.properties
        for name in (key, f"{one.tool.name}.{key}")
    }
    unknown = sorted(set(values) - parameter_names)
    if unknown:
        raise ConfigurationError(
            f"`values` names {unknown[0]!r}, which no tool that may be called has as a parameter."
        )
    changed_endpoints = []
    for endpoint in endpoints:
        properties = dict(endpoint.tool.properties)
        for name, schema in endpoint.tool.properties.items():
            if given := values.get(f"{endpoint.tool.name}.{name}", values.get(name)):
                properties[name] = {**schema, "examples": [*given]}
        tool = endpoint.tool
        if properties != tool.properties:
            tool = tool.with_changes(parameters={**tool.parameters, "properties": properties})
        changed_endpoints.append(endpoint._replace(tool=tool))
    return tuple(changed_endpoints)


def endpoints_of(
    tools: Sequence[Tool],
    operations: Sequence[tuple[str, str]],
    links: Sequence[tuple[StatedLink, ...]] = (),
    errors: Sequence[tuple[StatedError, ...]] = (),
) -> tuple[Endpoint, ...]:
    """Return the endpoints of tools with known methods and paths, the first of each tool name.

    Format suffixes are removed from paths (`/calls/{sid}.json`).
    """
    endpoints_by_name: dict[str, Endpoint] = {}
    nothing = [()] * len(tools)
    rows = zip(tools, operations, links or nothing, errors or nothing, strict=True)
    for tool, (method, written), tool_links, declared in rows:
        path = _FORMAT.sub("", written)
        inside = set(_IN_PATH.findall(path))
        places = tuple(
            ParameterPlace(name, "path", name) for name in tool.properties if name in inside
        )
        endpoints_by_name.setdefault(
            tool.name,
            Endpoint(tool, method.upper(), path, places, links=tool_links, errors=declared),
        )
    return _with_entries(endpoints_by_name.values())


def catalog_of(endpoints: Sequence[Endpoint]) -> Catalog:
    """Return the tools of endpoints as a catalog that records the origin of each."""
    origins = tuple(
        ToolOrigin(one.tool.key, one.method, one.path, one.tags, one.links) for one in endpoints
    )
    count = len(endpoints)
    return Catalog(
        tools=tuple(one.tool for one in endpoints), entries=count, distinct=count, origins=origins
    )


def is_allowed(method: str, path: str, allow: Iterable[str]) -> bool:
    """Whether an operation may be called: its method is safe, or `allow` lists it for this path."""
    if method.upper() in SAFE:
        return True
    rules = (rule.split(maxsplit=1) for rule in allow)
    return any(
        rule[0].upper() == method.upper() and fnmatchcase(path, (*rule, "*")[1])
        for rule in rules
        if rule
    )


def is_wanted(name: str, only: Sequence[str]) -> bool:
    """Whether a tool's name matches one of the patterns; without patterns, every name matches."""
    return not only or any(fnmatchcase(name, pattern) for pattern in only)


def _without_headers(endpoint: Endpoint, headers: set[str]) -> Endpoint:
    gone = {
        place.parameter
        for place in endpoint.places
        if place.part == "header" and place.name.lower() in headers
    }
    if not gone:
        return endpoint
    tool, parameters = endpoint.tool, dict(endpoint.tool.parameters)
    parameters["properties"] = {
        name: schema for name, schema in tool.properties.items() if name not in gone
    }
    parameters["required"] = [name for name in tool.required if name not in gone]
    places = tuple(place for place in endpoint.places if place.parameter not in gone)
    plumbing = tuple(name for name in tool.plumbing if name not in gone)
    return endpoint._replace(
        tool=tool.with_changes(
            parameters=parameters, plumbing=plumbing, original=_without_header_part(tool.original)
        ),
        places=places,
    )


def _without_header_part(original: Original | None) -> Original | None:
    """Return the schema of a request without its headers, some of which are sent by others."""
    if original is None:
        return None
    schema, places = original.schema_of_call, original.places
    properties = {name: one for name, one in schema["properties"].items() if name != "header"}
    required = [name for name in schema.get("required", ()) if name != "header"]
    return Original(
        schema_of_call={**schema, "properties": properties, "required": required},
        places={name: path for name, path in places.items() if path[0] != "header"},
    )
