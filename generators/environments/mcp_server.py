"""An MCP server, started or reached once per process: pages of tools, and answers to calls."""

import asyncio
import atexit
import logging
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO, TypeVar, cast

import orjson
from pydantic import JsonValue

from callwright.generators.environments.protocol import CallResponse
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.json_text import DEEPEST, depth
from callwright.warehouse.records import Arguments

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp.types import CallToolResult, ListToolsResult

START_PATIENCE = 60.0  # seconds: a command may have to fetch its server first
LIST_PATIENCE = 60.0
STOP_PATIENCE = 10.0
MOST_PAGES = 1000
LONGEST_PROBLEM = 400
# of a command without an answer between: one that ends at each call is not started for ever
MOST_STARTS = 3
# a call that is wrong by itself; a connection that is no more
_INVALID_PARAMS, _CLOSED = (-32602, -32000)
# Linux ends the server should this process be killed outright; elsewhere its closed input has to be
# enough.
_START = (
    "import ctypes, os, signal, sys;"
    "ctypes.CDLL(None).prctl(1, signal.SIGTERM);"
    "os.getppid() == int(sys.argv[1]) or sys.exit();"
    "os.execvp(sys.argv[2], sys.argv[2:])"
)
_Value = TypeVar("_Value")


class McpAddress(NamedTuple):
    """The address of a server: a command that speaks over its input and output, or a URL.

    `secrets` are environment variables of the command, or headers, with their values. The
    command runs in `folder`.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    secrets: tuple[tuple[str, str], ...] = ()
    folder: Path = Path()

    @property
    def shown(self) -> str:
        """The server's name in messages."""
        return f"The MCP server {self.url or ' '.join(self.command)!r}"


class McpListing(NamedTuple):
    """A server's name and the pages of its tool list; `problem` says why there are no more."""

    server: str
    pages: list[JsonValue]
    problem: str = ""


async def list_mcp_tools(address: McpAddress, patience: float) -> McpListing:
    """List a server's own tools; if it fails after the first page, return the pages so far.

    Raises UnheardError if it fails before.

    If the cursors repeat or never end, the last page shows that by its cursor.
    """
    server, name = server_at(address), ""
    pages: list[JsonValue] = []
    cursors: set[str | None] = set()
    cursor: str | None = None
    while cursor not in cursors and len(pages) < MOST_PAGES:
        cursors.add(cursor)
        try:
            name, page = await server.ask(partial(_page, cursor=cursor), patience)
        except ServerFailureError as error:
            if pages:
                return McpListing(name, pages, str(error))
            raise UnheardError(str(error)) from error
        pages.append(page.model_dump(mode="json", by_alias=True, exclude_none=True))
        cursor = page.next_cursor
        if cursor is None:
            break
    return McpListing(name, pages)


async def _page(client: "Client", cursor: str | None) -> "tuple[str, ListToolsResult]":
    page = await client.list_tools(cursor=cursor)
    return client.server_info.name if client.server_info else "", page


async def call_mcp_tool(
    address: McpAddress, name: str, arguments: Arguments, patience: float
) -> CallResponse:
    """Call a server's tool; any failure is stated in `problem`."""

    async def call(client: "Client") -> CallResponse:
        return read_result(await client.call_tool(name, dict(arguments)))

    try:
        return await server_at(address).ask(call, patience)
    except ServerFailureError as error:
        return CallResponse(problem=str(error), passing=not error.settled)


def read_result(result: "CallToolResult") -> CallResponse:
    """Return a result's structured content, or else its texts, parsed if they are JSON."""
    contents: list[JsonValue] = [
        (
            block.text
            if block.type == "text"
            else block.model_dump(mode="json", by_alias=True, exclude_none=True)
        )
        for block in result.content
    ]
    if result.is_error:
        stated = _cut(" ".join(text for text in contents if isinstance(text, str)))
        return CallResponse(
            problem=(
                f"The tool failed: {stated}" if stated else "The tool failed and does not say why."
            )
        )
    value: JsonValue = result.structured_content
    if value is None:
        values = list(map(_parsed, contents))
        value = values[0] if len(values) == 1 else values or None
    if depth(value) > DEEPEST:
        return CallResponse(
            problem=f"The server's answer is nested more than {DEEPEST} levels deep.", passing=True
        )
    return CallResponse(value)


def _parsed(content: JsonValue) -> JsonValue:
    """Return the object or list that a text encodes, or else the content unchanged."""
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(content)  # type: ignore[no-any-return]
    return content


def _cut(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= LONGEST_PROBLEM else f"{short[:LONGEST_PROBLEM]}…"


def last_line(text: str) -> str:
    """Return the last line that a command wrote, as a sentence; "" if it wrote none."""
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return f" It wrote: {_cut(last)}" if last else ""


class UnheardError(ConfigurationError):
    """A server can't be asked for its tools, whatever a recipe says about them."""


class ServerFailureError(Exception):
    """Why a server gave no result; outside this file it is a problem or an UnheardError.

    `settled` says that the same call would be refused again.
    """

    def __init__(self, problem: str, *, settled: bool = False) -> None:
        super().__init__(problem)
        self.settled = settled


_servers: Final[dict[tuple[int, McpAddress], "McpServer"]] = {}
_after: Final[list[tuple[int, Callable[[], None]]]] = []
_lock: Final = threading.Lock()


def server_at(address: McpAddress) -> "McpServer":
    """Return the server of an address, one per process; it ends with the process."""
    require_extra("mcp")
    with _lock:
        server = _servers.get((os.getpid(), address))
        if server is None:
            if not _servers:
                atexit.register(close_servers)
            server = _servers[os.getpid(), address] = McpServer(address)
        return server


def close_servers() -> None:
    """Stop the servers of this process; a server that is asked again is restarted."""
    with _lock:
        servers = [server for (process, _), server in _servers.items() if process == os.getpid()]
        after = [
            _after.pop(at) for at in range(len(_after) - 1, -1, -1) if _after[at][0] == os.getpid()
        ]
    for server in servers:
        server.close()
    for _, close in after:
        close()


def when_closed(close: Callable[[], None]) -> None:
    """Run `close` once the servers of this process have stopped."""
    with _lock:
        _after.append((os.getpid(), close))


class _Connection(NamedTuple):
    """A connection on its own thread, with events of its loop to request and confirm its end."""

    thread: threading.Thread
    loop: asyncio.AbstractEventLoop
    client: "Future[Client]"
    ending: asyncio.Event
    ended: asyncio.Event


class McpServer:
    """A server that starts, or is reached, at the first question and after a broken connection."""

    def __init__(self, address: McpAddress) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._connection: _Connection | None = None
        self._starts = 0  # since it last answered
        self._failure = ""  # the last one

    async def ask(
        self, question: "Callable[[Client], Awaitable[_Value]]", patience: float
    ) -> _Value:
        """Return the answer within `patience` seconds. Raises ServerFailureError."""
        connection = self._connected()
        try:
            client = await asyncio.wrap_future(connection.client)
        except ServerFailureError as error:
            self._failure = str(error)
            raise
        from mcp import MCPError

        pending_answer = asyncio.run_coroutine_threadsafe(
            _within(patience, question(client), connection.ended), connection.loop
        )
        try:
            answer = await asyncio.wrap_future(pending_answer)
        except TimeoutError as error:
            message = f"{self.address.shown} did not answer within {patience:g} seconds."
            raise ServerFailureError(message) from error
        except MCPError as error:
            if error.code != _CLOSED:
                problem = f"The server refused what it was asked: {_cut(error.message)}"
                raise ServerFailureError(problem, settled=error.code == _INVALID_PARAMS) from error
            await asyncio.to_thread(self.close)
            self._failure = f"{self.address.shown} ended while it was asked."
            raise ServerFailureError(self._failure) from error
        self._starts = 0
        return answer

    def close(self) -> None:
        """End the connection and the process started for it; the next question reopens it."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(RuntimeError):  # the loop has ended by itself
                connection.loop.call_soon_threadsafe(connection.ending.set)
            connection.thread.join(STOP_PATIENCE)

    def _connected(self) -> _Connection:
        """Return the open connection, or else a new one.

        Raises ServerFailureError if it broke too often.
        """
        with self._lock:
            if self._connection is None or not self._connection.thread.is_alive():
                if self.address.command and self._starts >= MOST_STARTS:
                    problem = f"{self._failure} After {MOST_STARTS} tries it is not started again."
                    raise ServerFailureError(problem)
                self._starts += 1
                loop, client = asyncio.new_event_loop(), Future["Client"]()
                ending, ended = asyncio.Event(), asyncio.Event()
                work = _stay_connected(self.address, client, ending, ended)
                thread = threading.Thread(target=_run, args=(loop, work), name="mcp", daemon=True)
                self._connection = _Connection(thread, loop, client, ending, ended)
                thread.start()
            return self._connection


async def _within(patience: float, question: Awaitable[_Value], ended: asyncio.Event) -> _Value:
    """Await an answer; TimeoutError if it is late, ServerFailureError if the connection ends."""
    pending_answer, over = asyncio.ensure_future(question), asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait(
            (pending_answer, over), timeout=patience, return_when=asyncio.FIRST_COMPLETED
        )
        if pending_answer.done():
            return pending_answer.result()
        if over.done():
            raise ServerFailureError("The connection to the server was closed.")
        raise TimeoutError
    finally:
        pending_answer.cancel()
        over.cancel()
        await asyncio.wait((pending_answer, over))


def _run(loop: asyncio.AbstractEventLoop, work: Coroutine[None, None, None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


async def _stay_connected(
    address: McpAddress, opened: "Future[Client]", ending: asyncio.Event, ended: asyncio.Event
) -> None:
    """Open a connection and close it on request, both in one task, as the library requires."""
    import httpx2
    from mcp import Client, MCPError

    logging.getLogger("mcp").addHandler(logging.NullHandler())  # what it logs is told as a problem
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        error_output = cast("TextIO", file)
        try:
            async with asyncio.timeout(START_PATIENCE) as start:
                async with Client(_transport(address, error_output), cache=None) as client:
                    start.reschedule(None)
                    opened.set_result(client)
                    await ending.wait()
                    ended.set()
        except (MCPError, OSError, ValueError, httpx2.HTTPError, ExceptionGroup) as error:
            if not opened.done():
                opened.set_exception(ServerFailureError(_refusal(address, error, error_output)))
        finally:
            ended.set()


@asynccontextmanager
async def _transport(address: McpAddress, stated: TextIO) -> "AsyncIterator[TransportStreams]":
    """Yield the streams of a server; a command's error output is written to the file `stated`."""
    import httpx2
    from mcp import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if address.url:
        client = httpx2.AsyncClient(headers=dict(address.secrets), trust_env=False, timeout=None)
        async with client, streamable_http_client(address.url, http_client=client) as streams:
            yield streams
        return
    command = shutil.which(address.command[0], path=None) or ""
    if not command and not (address.folder / address.command[0]).is_file():
        raise FileNotFoundError(f"there is no command {address.command[0]!r}")
    words = [command or address.command[0], *address.command[1:]]
    if sys.platform == "linux":
        words = [sys.executable, "-I", "-S", "-c", _START, str(os.getpid()), *words]
    parameters = StdioServerParameters(
        command=words[0], args=words[1:], env=dict(address.secrets), cwd=address.folder.absolute()
    )
    async with stdio_client(parameters, errlog=stated) as streams:
        yield streams


def variables_of(address: McpAddress) -> dict[str, str]:
    """Return the variables for an address's command: those it needs to run, and its secrets."""
    from mcp.client.stdio import get_default_environment

    return get_default_environment() | dict(address.secrets)


def _refusal(address: McpAddress, error: Exception, stated: TextIO) -> str:
    """Return why a server can't be asked: its innermost error and its command's last line."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        reason = f"it did not answer within {START_PATIENCE:g} seconds"
    else:
        reason = _cut(str(error)) or type(error).__name__
    stated.seek(0)
    return f"{address.shown} can't be asked ({reason}).{last_line(stated.read())}"
