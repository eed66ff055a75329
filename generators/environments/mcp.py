"""An MCP server as an environment: which of its tools may be called, what they return, and what they answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Catalog, Problem
from callwright.generators.catalogs.choosing import adapt
from callwright.generators.catalogs.documents import DocumentItem
from callwright.generators.catalogs.tool_lists import MCP_REPLY, read_mcp_pages
from callwright.generators.environments.endpoints import Endpoint, is_wanted
from callwright.generators.environments.http import HttpLimits, hidden_words, hide
from callwright.generators.environments.linking import entry_schemas, leaves_of
from callwright.generators.environments.mcp_server import McpAddress, McpListing, call_mcp_tool, list_mcp_tools
from callwright.generators.environments.protocol import CallResponse, McpSettings
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, JsonSchema, Link, Tool

_SHOWN = 12
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_OF = frozenset({"by", "for", "from", "in", "of", "with"})  # what comes after says how, not what


class McpEnvironment:
    """Calls a server's tools, and no others than those that it was given."""

    def __init__(
        self, name: str, address: McpAddress, tools: Sequence[Tool], own_names: Mapping[str, str], limits: HttpLimits
    ) -> None:
        """`own_names` are the server's names of the tools that were renamed. Nothing is started before the first call."""
        self.address = address
        self.name, self._limits = name, limits
        self._tools = {tool.name: tool for tool in tools}
        self.tools = tuple(self._tools.values())
        self.links: tuple[Link, ...] = ()  # a server's list of tools names none
        self._own_names = own_names
        self._hidden = hidden_words(value for _, value in address.secrets)

    def with_tools(self, tools: Sequence[Tool]) -> "McpEnvironment":
        """The same server with other tools."""
        return McpEnvironment(self.name, self.address, tools, self._own_names, self._limits)

    async def answer(self, call: Call) -> CallResponse:
        """The server's answer; whatever goes wrong is stated in `problem`."""
        if call.tool not in self._tools:
            return CallResponse(problem=f"{self.name} has no tool {call.tool!r} that may be called.")
        own_name = self._own_names.get(call.tool, call.tool)
        answer = await call_mcp_tool(self.address, own_name, call.arguments, self._limits.seconds)
        body = orjson.dumps(answer.response)
        if len(body) > self._limits.size:
            problem = f"The server's answer is larger than the {self._limits.size} bytes allowed."
            return CallResponse(problem=problem, passing=True)
        if not self._hidden:
            return answer
        shown: JsonValue = orjson.loads(hide(body.decode(), self._hidden))
        return answer._replace(response=shown, problem=hide(answer.problem, self._hidden))


async def read_server(address: McpAddress, patience: float) -> Catalog:
    """A server's tools as a catalog, in one category, the server's name. Raises UnheardError where it can't be asked."""
    builder = _read(await list_mcp_tools(address, patience), "mcp", "mcp")
    return builder.catalog(Path(address.url or address.command[0]), MCP_REPLY).with_changes(files=())


def _read(listing: McpListing, category: str, source: str) -> CatalogBuilder:
    """The tools of a server's pages; `category` is theirs where the server has no name."""
    pages = [DocumentItem(f"page {number}: ", page) for number, page in enumerate(listing.pages, start=1)]
    builder = read_mcp_pages(pages, listing.server or category, source)
    if listing.problem:
        told = f"{listing.problem} The tools of the {len(pages)} pages before are kept; ask it again for the others."
        builder.report(f"page {len(pages) + 1}: ", "incomplete_listing", told)
    return builder


class ServerTools(NamedTuple):
    """The tools of a server that may be called, what was odd in its list, and why that list has no end, "" where it has."""

    endpoints: tuple[Endpoint, ...]
    problems: tuple[Problem, ...]
    cut_short: str


async def read_server_tools(settings: McpSettings, address: McpAddress) -> ServerTools:
    """The tools that may be called: those that the server marks as read-only, and those that the recipe allows by name.

    Raises UnheardError where the server can't be asked, ConfigurationError where none may be called.
    """
    listing = await list_mcp_tools(address, settings.timeout)
    builder = _read(listing, settings.name, f"environment:{settings.name}")
    stated = builder.tools
    safe = {name for name, annotations in _annotations(listing) if annotations.get("readOnlyHint") is True}
    adapted = zip(stated, adapt(stated, settings.choice), strict=True)
    callable_tools = [
        tool for own, tool in adapted if own.name in safe or (settings.allow and is_wanted(own.name, settings.allow))
    ]
    if not callable_tools:
        names = ", ".join(tool.name for tool in stated[:_SHOWN]) or "none"
        raise ConfigurationError(
            f"{address.shown} marks none of its tools as read-only; name those that may be called under `allow`."
            f" Its tools are {names}."
        )
    endpoints = tuple(Endpoint(tool, "", _path_of(tool.name), ()) for tool in callable_tools)
    return ServerTools(endpoints, tuple(builder.problems), listing.problem)


def _annotations(listing: McpListing) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    for page in listing.pages:
        tools = page.get("tools") if isinstance(page, dict) else None
        for tool in tools if isinstance(tools, list) else []:
            annotations = tool.get("annotations") if isinstance(tool, dict) else None
            if isinstance(tool, dict) and isinstance(annotations, dict):
                yield str(tool.get("name")), annotations


def _path_of(name: str) -> str:
    """What a tool is about, as a path says it: its name without the verb ("list_orders_of_customer" is about "/orders")."""
    words = [word for word in _PARTS.split(name) if word]
    end = next((place for place, word in enumerate(words) if place and word.lower() in _OF), len(words))
    return f"/{'-'.join(words[1:end] or words[:1])}"


def with_returns(endpoints: Sequence[Endpoint], seen: Mapping[str, Sequence[JsonValue]]) -> tuple[Endpoint, ...]:
    """The endpoints, each tool that does not state which values it returns with the schema of what it was seen to return."""
    return tuple(
        one._replace(tool=one.tool.with_changes(returns=schema_of_values(seen[one.tool.name])))
        if _is_vague(one.tool.returns) and seen.get(one.tool.name)
        else one
        for one in endpoints
    )


def _is_vague(returns: JsonSchema | None) -> bool:
    """Whether a schema names no value: it is not stated, or says no more than "a list of objects"."""
    entries = entry_schemas(returns or {})
    return not any(leaf for _, schema in entries for leaf in leaves_of(schema, through_lists=False))


def schema_of_values(values: Sequence[JsonValue]) -> JsonSchema:
    """A schema that all these values fit; an empty one where they have nothing in common."""
    present = [value for value in values if value is not None]
    kinds = {_kind(value) for value in present}
    if kinds == {"object"}:
        objects = [value for value in present if isinstance(value, dict)]
        names = dict.fromkeys(name for value in objects for name in value)
        members = {name: schema_of_values([one[name] for one in objects if name in one]) for name in names}
        return {"type": "object", "properties": members}
    if kinds == {"array"}:
        items = [item for value in present if isinstance(value, list) for item in value]
        return {"type": "array", "items": schema_of_values(items)}
    if kinds == {"integer", "number"}:
        return {"type": "number"}
    return {"type": kinds.pop()} if len(kinds) == 1 else {}


def _kind(value: JsonValue) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
