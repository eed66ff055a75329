"""What the tools of a multi-step task say about themselves: which parameter takes its value out of whose response."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from language.calls.entries import affinity, is_query
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema

_ORIGIN = re.compile(
    r"\(`(?P<field>[^`]*)`(?P<listed> of an entry(?: of `(?P<entries>[^`]*)`)?)? in the response of (?P<source>\w+)\)"
)


class Origin(NamedTuple):
    """The `field` of an entry of `entries` in the response of the tool `source`; not `listed`: of the response itself."""

    source: str
    entries: str
    field: str
    listed: bool = True


class StepTool(NamedTuple):
    """A tool as the prompt shows it."""

    name: str
    description: str
    properties: Mapping[str, JsonSchema]
    required: tuple[str, ...]

    def schema(self, parameter: str) -> JsonSchema:
        """The schema of a parameter, of "legs[].fromId" too."""
        first, _, member = parameter.partition("[].")
        schema = self.properties.get(first) or {}
        return ((schema.get("items") or {}).get("properties") or {}).get(member) or {} if member else schema

    def members(self, parameter: str) -> tuple[str, ...]:
        """The required members of the objects that a list parameter holds, () for any other."""
        items = self.schema(parameter).get("items") or {}
        return tuple(items.get("required") or items.get("properties") or ())

    def origins(self, parameter: str) -> tuple[Origin, ...]:
        """Where the parameter's description says that its value comes from."""
        return _origins(str(self.schema(parameter).get("description", "")))

    @property
    def query(self) -> str:
        """The one text that a lookup needs, "" where the tool is none."""
        if len(self.required) != 1:
            return ""
        name = self.required[0]
        linked = bool(self.origins(name))
        return name if is_query(name, self.properties.get(name) or {}, linked=linked) else ""


class Toolbox(NamedTuple):
    """The tools shown, by name."""

    tools: Mapping[str, StepTool]

    def is_lookup(self, name: str) -> bool:
        """Whether the tool finds a thing by the one text that names it."""
        return name in self.tools and bool(self.tools[name].query)

    def is_inside(self, source: str, name: str, parameter: str) -> bool:
        """Whether what a call of `name` says besides `parameter` is all that a call of `source` needs."""
        if source not in self.tools or self.is_lookup(source):
            return False
        known = self.tools[name].properties
        return all(need in known and need != parameter for need in self.tools[source].required)

    def lookup_for(self, name: str, parameter: str) -> "Origin | None":
        """The origin of a parameter that finds a thing by its name, the one closest to the tool's own name."""
        found = [origin for origin in self.origins(name, parameter) if self.is_lookup(origin.source)]
        return max(found, key=lambda origin: affinity(name, origin.source), default=None)

    def origins(self, name: str, parameter: str) -> list[Origin]:
        """Where a parameter's value can come from, of the tools that are shown."""
        return [origin for origin in self.tools[name].origins(parameter) if origin.source in self.tools]


def read_toolbox(shown: JsonValue) -> Toolbox:
    """The tools of a section <tools>; ReplyError where they are none."""
    return _toolbox(orjson.dumps(shown))


@lru_cache(256)
def _toolbox(shown: bytes) -> Toolbox:
    tools = orjson.loads(shown)
    if not isinstance(tools, list) or not all(isinstance(tool, dict) and tool.get("name") for tool in tools):
        raise ReplyError("template/v1 expects in <tools> a list of tools with their names.")
    read = [_tool(tool) for tool in tools]
    return Toolbox({tool.name: tool for tool in read})


def _tool(shown: Mapping[str, JsonSchema]) -> StepTool:
    parameters = shown.get("parameters") or {}
    return StepTool(
        str(shown["name"]),
        str(shown.get("description") or ""),
        parameters.get("properties") or {},
        tuple(parameters.get("required") or ()),
    )


@lru_cache(4096)
def _origins(description: str) -> tuple[Origin, ...]:
    return tuple(
        Origin(found["source"], found["entries"] or "", found["field"], bool(found["listed"]))
        for found in _ORIGIN.finditer(description)
    )
