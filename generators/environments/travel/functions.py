"""The functions of the world, read from YAML: tools, links, what kind of thing each parameter is.

Beside a parameter's schema its entry says: `element` (what kind of thing a person says there), `fixed` (never replaced
in a variant), `required`, and `from`: a list of names of lists in sources.yaml and of [function, entries, field].
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

import orjson

from generators.environments.travel.geography import packaged
from warehouse.errors import ConfigurationError
from warehouse.records import ElementKind, JsonSchema, Link, Tool

SOURCE = "environment:travel"
FILES = ("hotels", "flights", "car_rental", "attraction", "taxi", "shared")
_OWN = frozenset({"element", "fixed", "required", "from"})


class Function(NamedTuple):
    """A tool with its links, and by parameter ("legs[].date" where it lies deeper) its element; `fixed` are never replaced."""

    tool: Tool
    links: tuple[Link, ...]
    elements: Mapping[str, ElementKind]
    fixed: frozenset[str]


@lru_cache(1)
def functions() -> Mapping[str, Function]:
    """Every function by name, domain by domain."""
    sources = packaged("tools/sources.yaml")
    found: dict[str, Function] = {}
    for file in FILES:
        content = packaged(f"tools/{file}.yaml")
        for name, entry in content["tools"].items():
            found[name] = _Reading(name, sources).function(entry, content["domain"])
    return found


def function_named(name: str) -> Function:
    """The function of this name; ConfigurationError where there is none."""
    if name not in functions():
        known = ", ".join(functions())
        raise ConfigurationError(f"The travel world has no function {name!r}; its functions are {known}.")
    return functions()[name]


def said_source(link: Link) -> str:
    """The fixed words by which a description says where a value comes from."""
    place = f"`{link.field}` of an entry of `{link.entries}`" if link.entries else f"`{link.field}`"
    return f"({place} in the response of {link.source})"


class _Reading:
    """Reads the entry of one function."""

    def __init__(self, name: str, sources: Mapping[str, Any]) -> None:
        self.name = name
        self.sources = sources
        self.links: list[Link] = []
        self.elements: dict[str, ElementKind] = {}
        self.fixed: set[str] = set()

    def function(self, entry: Mapping[str, Any], domain: str) -> Function:
        tool = Tool(
            name=self.name,
            description=entry["description"],
            parameters=self._object(entry.get("parameters", {}), ""),
            returns=_brief(entry["returns"]),
            category=domain,
            source=SOURCE,
        )
        return Function(tool, tuple(self.links), self.elements, frozenset(self.fixed))

    def _object(self, parameters: Mapping[str, Any], above: str) -> JsonSchema:
        required = [name for name, entry in parameters.items() if entry.get("required")]
        properties = {name: self._schema(entry, f"{above}{name}") for name, entry in parameters.items()}
        return {"type": "object", "properties": properties, "required": required}

    def _schema(self, entry: Mapping[str, Any], path: str) -> JsonSchema:
        schema = {name: value for name, value in entry.items() if name not in _OWN}
        if "element" in entry:
            self.elements[path] = cast("ElementKind", entry["element"])
        if entry.get("fixed"):
            self.fixed.add(path)
        if schema.get("items", {}).get("type") == "object":
            schema["items"] = self._object(schema["items"]["properties"], f"{path}[].")
        links = list(self._links(entry.get("from", ()), path))
        self.links += links
        schema["description"] = " ".join(_sentences(schema, links))
        return schema

    def _links(self, origin: list[str | list[str]], path: str) -> Iterator[Link]:
        for part in origin:
            for source, entries, field in self.sources[part] if isinstance(part, str) else [part]:
                yield Link(tool=self.name, parameter=path, source=source, entries=entries, field=field)


def _sentences(schema: JsonSchema, links: list[Link]) -> Iterator[str]:
    """The description, the default in words, and last of all where the value comes from."""
    yield schema["description"]
    if "default" in schema:
        yield f"Default: {orjson.dumps(schema['default']).decode()}."
    if links:
        yield " or ".join(said_source(link) for link in links)


def _brief(returns: Mapping[str, Any]) -> JsonSchema:
    """The schema of a response, from its shape: a word is a type, a mapping an object, a list what its entries look like."""
    frame = {"status": {"type": "boolean"}, "message": {"type": "string"}, "data": _shape(returns)}
    return {"type": "object", "properties": frame}


def _shape(value: object) -> JsonSchema:
    if isinstance(value, Mapping):
        return {"type": "object", "properties": {name: _shape(part) for name, part in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": _shape(value[0])}
    return {"type": str(value)}
