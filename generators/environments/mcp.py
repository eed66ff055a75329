"""An MCP server as environment: its callable tools, their results, and answers after changes.

A server that can be reset holds one state, so callers take turns. Each caller says which calls
have changed the state since the last reset; if the server's state differs, it is reset and these
calls are repeated.
"""

import asyncio
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, TypeVar

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Catalog, Problem
from callwright.generators.catalogs.choosing import adapt
from callwright.generators.catalogs.documents import DocumentItem
from callwright.generators.catalogs.tool_lists import MCP_REPLY, read_mcp_pages
from callwright.generators.environments.endpoints import Endpoint, is_wanted
from callwright.generators.environments.http import HttpLimits, hidden_words, hide
from callwright.generators.environments.linking import (
    IDENTIFYING,
    entry_schemas,
    leaves_of,
    words_of,
)
from callwright.generators.environments.mcp_server import (
    McpAddress,
    McpListing,
    call_mcp_tool,
    last_line,
    list_mcp_tools,
    server_at,
    variables_of,
    when_closed,
)
from callwright.generators.environments.protocol import CallResponse, Made, McpSettings, Reset
from callwright.generators.environments.response_store import FILES
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Arguments, Call, JsonSchema, Link, Tool, content_key

FOLDER = "{folder}"
SHOWN_FOLDER = "/workspace"  # what a copy is called in calls and answers, wherever it is
LARGEST_TEXT = 2**16  # bytes of a file that are told as they are
_SHOWN = 12
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_OF = frozenset({"by", "for", "from", "in", "of", "with"})  # what comes after says how, not what
_KINDS = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_Value = TypeVar("_Value", JsonValue, Arguments)


class McpEnvironment:
    """Calls a server's tools, but only those that it was given."""

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
        """Set up the server; nothing is started before the first call.

        `own_names` are the server's names of the renamed tools.
        """
        self.address, self.reset = address, reset
        self.name, self._limits = name, limits
        self._tools = {tool.name: tool for tool in tools}
        self.tools = tuple(self._tools.values())
        self.links: tuple[Link, ...] = ()  # a server's list of tools names none
        self._own_names = own_names
        self._hidden = hidden_words(value for _, value in address.secrets)

    def with_tools(self, tools: Sequence[Tool]) -> "McpEnvironment":
        """Return the same server with other tools."""
        return McpEnvironment(
            self.name, self.address, tools, self._own_names, self._limits, reset=self.reset
        )

    async def answer(self, call: Call) -> CallResponse:
        """Return the server's answer; any failure is stated in `problem`."""
        if call.tool not in self._tools:
            more = " Tools that change a server are called where `reset` says how it is reset."
            if self.reset:
                more = ""
            return CallResponse(
                problem=f"{self.name} has no tool {call.tool!r} that may be called.{more}"
            )
        own = self._renamed(call)
        return self._shown(
            await call_mcp_tool(self.address, own.tool, own.arguments, self._limits.seconds)
        )

    @property
    def resetting(self) -> "ResetServer":
        """The server with its reset. Raises ConfigurationError if it has no reset."""
        if self.reset is None:
            raise ConfigurationError(
                f"The server of {self.name!r} has no `reset`, so that calls may not change it."
            )
        return reset_server(self.address, self.reset, self._limits.seconds)

    def ask_after(self, past: Sequence[Made], call: Call, *, writes: bool) -> CallResponse:
        """Return a resettable server's answer after these calls; errors are in `problem`.

        State can be read by a call of any tool, and the files of the server's folder by FILES.
        """
        made = [Made(self._renamed(before.call), before.answer) for before in past]
        return self._shown(self.resetting.ask_after(made, self._renamed(call), writes=writes))

    def _renamed(self, call: Call) -> Call:
        """Return a call with the server's own name of its tool."""
        return call.with_changes(tool=self._own_names.get(call.tool, call.tool))

    def _shown(self, answer: CallResponse) -> CallResponse:
        """Return an answer without secrets, or a problem if it is too large."""
        body = orjson.dumps(answer.response)
        if len(body) > self._limits.size:
            problem = f"The server's answer is larger than the {self._limits.size} bytes allowed."
            return CallResponse(problem=problem, passing=True)
        if not self._hidden:
            return answer
        shown: JsonValue = orjson.loads(hide(body.decode(), self._hidden))
        return answer._replace(response=shown, problem=hide(answer.problem, self._hidden))


class ResetServer:
    """A server and its reset, one per process; calls use the server's own tool names."""

    def __init__(self, address: McpAddress, reset: Reset, patience: float) -> None:
        """Set up the server; nothing is started yet.

        `patience` is how many seconds a call or a reset command may take.
        """
        self._reset, self._patience = reset, patience
        self._lock = threading.Lock()
        # what has changed it since; None where that is not known
        self._past: tuple[Call, ...] | None = None
        self._copy: TemporaryDirectory[str] | None = None
        self._stated = self._address = address

    def ask_after(self, past: Sequence[Made], call: Call, *, writes: bool) -> CallResponse:
        """Return the answer to a call made after `past`; `writes` if it may change the server.

        FILES returns the files of the server's copy: text as it is, everything else as a hash.
        """
        with self._lock:
            try:
                self._bring_to(past)
            except ConfigurationError as error:
                self._past = None
                return CallResponse(problem=str(error), passing=True)
            if call == FILES:
                root = self._address.folder
                paths = sorted(path for path in root.rglob("*") if path.is_file())
                return CallResponse(
                    {path.relative_to(root).as_posix(): _content(path) for path in paths}
                )
            answer = self._ask(call)
            if answer.passing:
                self._past = None
            elif writes:
                self._past = (*(one.call for one in past), call)
            return answer

    def begin(self) -> McpAddress:
        """Reset the server and return its address.

        Raises ConfigurationError, which names the server, if it can't be reset.
        """
        with self._lock:
            self._begin()
            return self._address

    def close(self) -> None:
        """Remove the copy; the next call to the server creates a new one."""
        with self._lock:
            self._past = None
            if self._copy is not None:
                self._copy.cleanup()
                self._copy = None

    def _bring_to(self, past: Sequence[Made]) -> None:
        """Bring the server to the state that these calls have led to.

        Raises ConfigurationError if that fails.
        """
        wanted = tuple(one.call for one in past)
        if self._past is None or wanted[: len(self._past)] != self._past:
            self._begin()
        for past_call in past[len(self._past or ()) :]:
            answer = self._ask(past_call.call)
            if answer.passing:
                raise ConfigurationError(answer.problem)
            if _essence(answer) != _essence(past_call.answer):
                raise ConfigurationError(
                    f"{self._stated.shown} answers {past_call.call.tool} otherwise after a reset"
                    " than before it, so that the reset does not restore what it held at first, or"
                    " its answers depend on chance."
                )
            self._past = (*(self._past or ()), past_call.call)

    def _begin(self) -> None:
        self._past = None
        if self._reset.tool:
            answer = self._ask(Call(tool=self._reset.tool, arguments=dict(self._reset.arguments)))
            if answer.problem:
                raise self._failure(f"by its tool {self._reset.tool!r}: {answer.problem}", after="")
        else:
            if self._stated.command:
                server_at(self._address).close()
            if self._reset.folder is not None:
                self._copy_anew(self._reset.folder)
            else:
                self._run(self._reset.command)
        self._past = ()

    def _failure(self, why: str, after: str = ":") -> ConfigurationError:
        return ConfigurationError(f"{self._stated.shown} was not reset{after} {why}")

    def _copy_anew(self, folder: Path) -> None:
        if self._copy is None:
            self._copy = TemporaryDirectory(prefix="callwright-")
            when_closed(self.close)
        place = Path(self._copy.name).resolve() / folder.name
        try:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder, place)
        except (OSError, shutil.Error) as error:
            raise self._failure(f"the folder {str(folder)!r} can't be copied ({error}).") from error
        first, *words = self._stated.command
        own = self._stated.folder / first
        found = [str(own) if own.is_file() else first, *words]
        command = tuple(word.replace(FOLDER, str(place)) for word in found)
        self._address = self._stated._replace(command=command, folder=place)

    def _run(self, words: Sequence[str]) -> None:
        """Run the reset command with the variables of the server's own command."""
        shown = repr(" ".join(words))
        try:
            subprocess.run(  # noqa: S603 - the recipe's own command
                words,
                cwd=self._stated.folder,
                env=variables_of(self._stated),
                check=True,
                capture_output=True,
                text=True,
                timeout=self._patience,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            problem = f"{shown} did not end within {self._patience:g} seconds."
            raise self._failure(problem) from error
        except subprocess.CalledProcessError as error:
            wrote = last_line(error.stderr or error.stdout)
            raise self._failure(f"{shown} ended with {error.returncode}.{wrote}") from error
        except OSError as error:
            raise self._failure(f"{shown} can't be run ({error.strerror}).") from error

    def _ask(self, call: Call) -> CallResponse:
        """Return the server's answer, independent of where its copy is."""
        place = str(self._address.folder) if self._copy is not None else SHOWN_FOLDER
        arguments = _replaced(call.arguments, SHOWN_FOLDER, place)
        question = call_mcp_tool(self._address, call.tool, arguments, self._patience)
        with ThreadPoolExecutor(1) as other:  # who asks may be in a loop of its own
            answer = other.submit(asyncio.run, question).result()
        problem = answer.problem.replace(place, SHOWN_FOLDER)
        return answer._replace(
            response=_replaced(answer.response, place, SHOWN_FOLDER), problem=problem
        )


_servers: Final[dict[tuple[int, str], ResetServer]] = {}
_lock: Final = threading.Lock()


def reset_server(address: McpAddress, reset: Reset, patience: float) -> ResetServer:
    """Return this process's server for an address and reset, which tracks all callers' changes."""
    key = (
        os.getpid(),
        content_key(
            [*address.command, address.url, str(address.folder), reset.model_dump(mode="json")]
        ),
    )
    with _lock:
        if key not in _servers:
            _servers[key] = ResetServer(address, reset, patience)
        return _servers[key]


def _replaced(value: _Value, old: str, new: str) -> _Value:
    found: _Value = (
        value if old == new else orjson.loads(orjson.dumps(value).decode().replace(old, new))
    )
    return found


def _content(path: Path) -> JsonValue:
    body = path.read_bytes()
    try:
        text = body.decode() if len(body) <= LARGEST_TEXT and b"\0" not in body else None
    except UnicodeDecodeError:
        text = None
    return content_key([body.hex()]) if text is None else text


def _essence(answer: CallResponse) -> JsonValue:
    """Return the parts of an answer that must not vary: success, and what identifies things."""
    return [bool(answer.problem), _identities(answer.response)]


def _identities(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {
            name: _identities(one) if isinstance(one, dict | list) else one
            for name, one in value.items()
            if isinstance(one, dict | list) or IDENTIFYING & set(words_of(name)[-1:])
        }
    return [_identities(one) for one in value] if isinstance(value, list) else None


async def read_server(address: McpAddress, patience: float) -> Catalog:
    """Read a server's tools as a catalog, in one category named after the server.

    Raises UnheardError if the server can't be asked.
    """
    builder = _read(await list_mcp_tools(address, patience), "mcp", "mcp")
    return builder.catalog(Path(address.url or address.command[0]), MCP_REPLY).with_changes(
        files=()
    )


def _read(listing: McpListing, category: str, source: str) -> CatalogBuilder:
    """Read the tools of a server's pages; `category` is used if the server has no name."""
    pages = [
        DocumentItem(f"page {number}: ", page) for number, page in enumerate(listing.pages, start=1)
    ]
    builder = read_mcp_pages(pages, listing.server or category, source)
    if listing.problem:
        remark_text = (
            f"{listing.problem} Kept: the tools of {count_of(len(pages), 'page')} before. Ask it"
            " again for the others."
        )
        builder.report(f"page {len(pages) + 1}: ", "incomplete_listing", remark_text)
    return builder


class ServerTools(NamedTuple):
    """A server's callable tools, problems in its list, and why that was cut short ("" if not).

    `reading` names the tools that change nothing.
    """

    endpoints: tuple[Endpoint, ...]
    problems: tuple[Problem, ...]
    cut_short: str
    reading: tuple[str, ...] = ()


async def read_server_tools(settings: McpSettings, address: McpAddress) -> ServerTools:
    """Return the tools that the server marks as read-only and those that the recipe allows.

    A server that can be reset offers all its tools. Raises UnheardError if the server can't be
    asked, ConfigurationError if no tool may be called.
    """
    if settings.reset is not None and settings.reset.folder is not None:
        address = await asyncio.to_thread(
            reset_server(address, settings.reset, settings.timeout).begin
        )
    listing = await list_mcp_tools(address, settings.timeout)
    builder = _read(listing, settings.name, f"environment:{settings.name}")
    server_tools = builder.tools
    reading = {
        one.name for one in server_tools if settings.reads and is_wanted(one.name, settings.reads)
    }
    for page in listing.pages:
        tools = page.get("tools") if isinstance(page, dict) else None
        for tool in tools if isinstance(tools, list) else []:
            match tool:
                case {"name": name, "annotations": {"readOnlyHint": True}}:
                    reading.add(str(name))
    allowed = {
        one.name for one in server_tools if settings.allow and is_wanted(one.name, settings.allow)
    }
    adapted = list(zip(server_tools, adapt(server_tools, settings.choice), strict=True))
    callable_tools = [
        tool for own, tool in adapted if settings.reset or own.name in reading | allowed
    ]
    if not callable_tools:
        names = ", ".join(tool.name for tool in server_tools[:_SHOWN]) or "none"
        raise ConfigurationError(
            f"{address.shown} marks none of its tools as read-only; name those that may be called"
            " under `allow`, or say how it is reset under `reset`, so that all may be. Its tools"
            f" are {names}."
        )
    endpoints = tuple(Endpoint(tool, "", _path_of(tool.name), ()) for tool in callable_tools)
    names_of_reading = tuple(tool.name for own, tool in adapted if own.name in reading)
    return ServerTools(endpoints, tuple(builder.problems), listing.problem, names_of_reading)


def _path_of(name: str) -> str:
    """Return what a tool is about as a path: "/orders" for "list_orders_of_customer"."""
    words = [word for word in _PARTS.split(name) if word]
    end = next(
        (place for place, word in enumerate(words) if place and word.lower() in _OF), len(words)
    )
    return f"/{'-'.join(words[1:end] or words[:1])}"


def with_returns(
    endpoints: Sequence[Endpoint], seen: Mapping[str, Sequence[JsonValue]]
) -> tuple[Endpoint, ...]:
    """Give tools with vague return schemas the schema of the values that they returned."""
    return tuple(
        (
            one._replace(tool=one.tool.with_changes(returns=schema_of_values(seen[one.tool.name])))
            if _is_vague(one.tool.returns) and seen.get(one.tool.name)
            else one
        )
        for one in endpoints
    )


def _is_vague(returns: JsonSchema | None) -> bool:
    """Whether a schema is missing or names no value, such as only "a list of objects"."""
    entries = entry_schemas(returns or {})
    return not any(leaf for _, schema in entries for leaf in leaves_of(schema, through_lists=False))


def schema_of_values(values: Sequence[JsonValue]) -> JsonSchema:
    """Return a schema that all these values match; an empty one if they have nothing in common."""
    kinds = {_KINDS[type(value)] for value in values if value is not None}
    if kinds == {"object"}:
        objects = [value for value in values if isinstance(value, dict)]
        names = dict.fromkeys(name for value in objects for name in value)
        members = {
            name: schema_of_values([one[name] for one in objects if name in one]) for name in names
        }
        return {"type": "object", "properties": members}
    if kinds == {"array"}:
        items = [item for value in values if isinstance(value, list) for item in value]
        return {"type": "array", "items": schema_of_values(items)}
    if kinds == {"integer", "number"}:
        return {"type": "number"}
    return {"type": kinds.pop()} if len(kinds) == 1 else {}
