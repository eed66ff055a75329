"""An MCP server as an environment: which of its tools may be called, what they return, and what they answer."""

import asyncio
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
from callwright.generators.environments.mcp_reset import Made, ResetServer, reset_server
from callwright.generators.environments.mcp_server import McpAddress, McpListing, call_mcp_tool, list_mcp_tools
from callwright.generators.environments.protocol import CallResponse, McpSettings, Reset
from callwright.generators.environments.response_store import FILES
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, JsonSchema, Link, Tool

_SHOWN = 12
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_OF = frozenset({"by", "for", "from", "in", "of", "with"})  # what comes after says how, not what


class McpEnvironment:
    """Calls a server's tools, and no others than those that it was given."""

    def __init__(
        self,
        name: str,
        address: McpAddress,
        tools: Sequence[Tool],
        own_names: Mapping[str, str],
        limits: HttpLimits,
        *,
        reset: Reset | None = None,
    ) -> None:
        """`own_names` are the server's names of the tools that were renamed. Nothing is started before the first call."""
        self.address, self.reset = address, reset
        self.name, self._limits = name, limits
        self._tools = {tool.name: tool for tool in tools}
        self.tools = tuple(self._tools.values())
        self.links: tuple[Link, ...] = ()  # a server's list of tools names none
        self._own_names = own_names
        self._hidden = hidden_words(value for _, value in address.secrets)

    def with_tools(self, tools: Sequence[Tool]) -> "McpEnvironment":
        """The same server with other tools."""
        return McpEnvironment(self.name, self.address, tools, self._own_names, self._limits, reset=self.reset)

    async def answer(self, call: Call) -> CallResponse:
        """The server's answer; whatever goes wrong is stated in `problem`."""
        own = self._own(call)
        if isinstance(own, CallResponse):
            return own
        return self._shown(await call_mcp_tool(self.address, own.tool, own.arguments, self._limits.seconds))

    @property
    def resetting(self) -> ResetServer:
        """The server with its reset. Raises ConfigurationError where it has none."""
        if self.reset is None:
            raise ConfigurationError(f"The server of {self.name!r} has no `reset`, so that calls may not change it.")
        return reset_server(self.address, self.reset, self._limits.seconds)

    def answer_after(self, past: Sequence[Made], call: Call, *, writes: bool) -> CallResponse:
        """The answer of a server that is reset, after these calls; whatever goes wrong is stated in `problem`."""
        own = self._own(call)
        if isinstance(own, CallResponse):
            return own
        return self._shown(self.resetting.ask_after(self._made(past), own, writes=writes))

    def tell_after(self, past: Sequence[Made], call: Call) -> CallResponse:
        """What a call that tells the state is answered, whatever tools are meant to be called; FILES tells its folder's files."""
        made = self._made(past)
        if call == FILES:
            return self._shown(self.resetting.files_after(made))
        return self._shown(self.resetting.ask_after(made, self._renamed(call), writes=False))

    def _made(self, past: Sequence[Made]) -> list[Made]:
        return [Made(self._renamed(before.call), before.answer) for before in past]

    def _renamed(self, call: Call) -> Call:
        """A call under the server's own name of its tool."""
        return call.with_changes(tool=self._own_names.get(call.tool, call.tool))

    def _own(self, call: Call) -> Call | CallResponse:
        """A call under the server's own name of its tool; why not, where it has none that may be called."""
        if call.tool in self._tools:
            return self._renamed(call)
        return CallResponse(
            problem=f"{self.name} has no tool {call.tool!r} that may be called."
            + ("" if self.reset else " Tools that change a server are called where `reset` says how it is reset.")
        )

    def _shown(self, answer: CallResponse) -> CallResponse:
        """An answer that is not too large, without secrets."""
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
    """The tools of a server that may be called, what was odd in its list, and why that list has no end, "" where it has.

    `reading` are the names of those that change nothing.
    """

    endpoints: tuple[Endpoint, ...]
    problems: tuple[Problem, ...]
    cut_short: str
    reading: tuple[str, ...] = ()


async def read_server_tools(settings: McpSettings, address: McpAddress) -> ServerTools:
    """The tools that may be called: those that the server marks as read-only, and those that the recipe allows by name.

    All of them where it is reset.

    Raises UnheardError where the server can't be asked, ConfigurationError where none may be called.
    """
    if settings.reset is not None and settings.reset.folder is not None:
        address = await asyncio.to_thread(reset_server(address, settings.reset, settings.timeout).begin)
    listing = await list_mcp_tools(address, settings.timeout)
    builder = _read(listing, settings.name, f"environment:{settings.name}")
    stated = builder.tools
    reading = {name for name, annotations in _annotations(listing) if annotations.get("readOnlyHint") is True}
    reading |= {one.name for one in stated if settings.reads and is_wanted(one.name, settings.reads)}
    adapted = list(zip(stated, adapt(stated, settings.choice), strict=True))
    callable_tools = [
        tool
        for own, tool in adapted
        if own.name in reading or settings.reset or (settings.allow and is_wanted(own.name, settings.allow))
    ]
    if not callable_tools:
        names = ", ".join(tool.name for tool in stated[:_SHOWN]) or "none"
        raise ConfigurationError(
            f"{address.shown} marks none of its tools as read-only; name those that may be called under `allow`, or say how"
            f" it is reset under `reset`, so that all may be. Its tools are {names}."
        )
    endpoints = tuple(Endpoint(tool, "", _path_of(tool.name), ()) for tool in callable_tools)
    names_of_reading = tuple(tool.name for own, tool in adapted if own.name in reading)
    return ServerTools(endpoints, tuple(builder.problems), listing.problem, names_of_reading)


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
