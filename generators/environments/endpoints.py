"""Endpoints: tools of an OpenAPI document together with what a request of each needs."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from generators.catalogs.builder import CatalogBuilder
from generators.catalogs.openapi import ParameterPlace, read_operations
from warehouse.errors import ConfigurationError
from warehouse.records import Tool

SAFE = ("GET", "HEAD")


class Endpoint(NamedTuple):
    """A tool, and how it is asked: `path` is the template, `places` say where each parameter goes."""

    tool: Tool
    method: str
    path: str
    places: tuple[ParameterPlace, ...]


def read_endpoints(
    path: Path,
    *,
    allow: Sequence[str] = (),
    secrets: Iterable[str] = (),
    only: Sequence[str] = (),
    source: str = "openapi",
) -> tuple[Endpoint, ...]:
    """The endpoints that may be asked: those that change nothing by their method, and those that `allow` names.

    `allow` holds methods ("POST"), or methods with a path pattern ("POST */filter"). `secrets` are headers that are no
    parameters, for the environment sends them itself; `only` patterns of tool names, none for all. The
    tools say that they come from `source`. Raises ConfigurationError where nothing is left.
    """
    builder, found = CatalogBuilder("openapi"), dict[str, Endpoint]()
    for operation in read_operations(path):
        if not is_allowed(operation.method, operation.path, allow) or not is_wanted(str(operation.draft.name), only):
            continue
        tool = builder.put(operation.draft, source)
        # A call names its tool only, so of two tools with one name the first is kept.
        if tool is not None and tool.name not in found:
            endpoint = Endpoint(tool, operation.method.upper(), operation.path, operation.places)
            found[tool.name] = _without_headers(endpoint, {header.lower() for header in secrets})
    if not found:
        raise ConfigurationError(
            f"The OpenAPI document {str(path)!r} has no operation that may be asked; allowed are {', '.join(SAFE)}"
            f" and {list(allow)}."
        )
    return tuple(found.values())


def is_allowed(method: str, path: str, allow: Iterable[str]) -> bool:
    """Whether an operation may be asked: a safe method, or one that `allow` names for this path."""
    if method.upper() in SAFE:
        return True
    rules = (rule.split(maxsplit=1) for rule in allow)
    return any(rule[0].upper() == method.upper() and fnmatchcase(path, (*rule, "*")[1]) for rule in rules if rule)


def is_wanted(name: str, only: Sequence[str]) -> bool:
    """Whether a tool's name fits one of the patterns; no pattern fits all."""
    return not only or any(fnmatchcase(name, pattern) for pattern in only)


def _without_headers(endpoint: Endpoint, headers: set[str]) -> Endpoint:
    gone = {place.parameter for place in endpoint.places if place.part == "header" and place.name.lower() in headers}
    if not gone:
        return endpoint
    tool, parameters = endpoint.tool, dict(endpoint.tool.parameters)
    parameters["properties"] = {name: schema for name, schema in tool.properties.items() if name not in gone}
    parameters["required"] = [name for name in tool.required if name not in gone]
    places = tuple(place for place in endpoint.places if place.parameter not in gone)
    return endpoint._replace(tool=tool.with_changes(parameters=parameters), places=places)
