"""An MCP server over the world of a task or recipe; each session changes its own episode."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from callwright.flows.api.tasks import Tasks
from callwright.flows.evaluation.tasks import CallAnswer, Episode, Task
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.exports.tasks import REPLY, RESET, REWARD, problem_of_task
from callwright.warehouse.extras import require_extra

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
    )

MOST_SESSIONS = 10_000
ALONE = "stdio"  # the only session of a server that speaks over its input and output
_CONTROLS: tuple[dict[str, Any], ...] = (
    {
        "name": RESET,
        "description": "Begin the task of this key anew, or the same one; it tells the request.",
        "parameters": {
            "type": "object",
            "properties": {"task": {"type": "string", "description": "The task's key."}},
        },
    },
    {
        "name": REWARD,
        "description": (
            "Whether the task is done: 1.0 or 0.0, and what is otherwise in the world now."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "text": {
                    "type": "string",
                    "description": "The assistant's last word, where there is one.",
                }
            },
        },
    },
)


class WorldSessions:
    """The episodes of sessions by name; if there are too many, the longest idle one is closed."""

    def __init__(self, tasks: Tasks, first: Task, *, has_controls: bool) -> None:
        """Begin each session with the task `first`; with controls it may begin another task.

        It may also ask for its reward then.
        """
        self._tasks, self._first, self._has_controls = tasks, first, has_controls
        self._episodes: OrderedDict[str, Episode] = OrderedDict()

    def episode(self, session: str) -> Episode:
        """Return the episode of a session, starting it at its first use."""
        if session not in self._episodes:
            self._episodes[session] = self._first.begin()
        self._episodes.move_to_end(session)
        if len(self._episodes) > MOST_SESSIONS:
            self._episodes.popitem(last=False)[1].close()
        return self._episodes[session]

    def tools(self, session: str) -> list[dict[str, Any]]:
        """Return the tools of a session's task, and its controls."""
        task = self.episode(session).task
        # where nothing is asked for, nothing is rewarded
        controls = _CONTROLS[:1] if problem_of_task(task.sample) else _CONTROLS
        spoken = [dict(task.reply_tool)] if task.is_spoken else []
        return [*task.tools, *spoken, *(controls if self._has_controls else ())]

    def call(self, session: str, name: str, arguments: Mapping[str, Any]) -> CallAnswer:
        """Return the answer to a call in a session."""
        if self._has_controls and name in (RESET, REWARD):
            try:
                if name == RESET:
                    return self._reset(session, **arguments)
                return self._judge(session, **arguments)
            except (CallwrightError, TypeError) as error:
                return CallAnswer({"error": str(error)}, is_error=True)
        episode = self.episode(session)
        if name == REPLY and episode.task.is_spoken:
            return episode.reply(dict(arguments))
        return episode.step(name, dict(arguments))

    def _reset(self, session: str, task: str = "") -> CallAnswer:
        wanted = self._tasks.of_key(task) if task else self.episode(session).task
        if session in self._episodes:
            self._episodes.pop(session).close()
        self._episodes[session] = wanted.begin()
        messages: list[JsonValue] = [{**message} for message in wanted.messages]
        return CallAnswer({"task": wanted.key, "messages": messages})

    def _judge(self, session: str, text: str | None = None) -> CallAnswer:
        episode = self.episode(session)
        changes: list[JsonValue] = [change.model_dump(mode="json") for change in episode.changes]
        return CallAnswer(
            {
                "reward": episode.reward(text),
                "changes": changes,
                "needless_changes": episode.needless_changes,
            }
        )


def make_server(sessions: WorldSessions) -> "Server[Any]":
    """Return the server of these sessions.

    Raises ConfigurationError if the extra `mcp` is not installed.
    """
    require_extra("mcp")
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

    async def list_tools(
        asked: "ServerRequestContext[Any]", _page: "PaginatedRequestParams | None"
    ) -> "ListToolsResult":
        listed = sessions.tools(_session_of(asked))
        return ListToolsResult(
            tools=[
                Tool(
                    name=one["name"], description=one["description"], input_schema=one["parameters"]
                )
                for one in listed
            ]
        )

    async def call_tool(
        asked: "ServerRequestContext[Any]", call: "CallToolRequestParams"
    ) -> "CallToolResult":
        answer = sessions.call(_session_of(asked), call.name, call.arguments or {})
        return CallToolResult(
            content=[TextContent(type="text", text=answer.text)], is_error=answer.is_error
        )

    return Server("callwright-world", on_list_tools=list_tools, on_call_tool=call_tool)


def _session_of(asked: "ServerRequestContext[Any]") -> str:
    """Return a request's session: the one in the address, the transport's own, or the only one.

    Raises ConfigurationError if a request over HTTP names none.
    """
    if asked.request is None:
        return ALONE
    named = asked.request.query_params.get("session") or asked.request.headers.get("mcp-session-id")
    if not named:
        raise ConfigurationError("The address names no session; add one, such as /mcp?session=a.")
    return str(named)


async def serve_stdio(server: "Server[Any]") -> None:
    """Serve one session over this process's input and output, until either of them ends."""
    from mcp.server.stdio import stdio_server

    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client has gone, and nobody reads an answer


def serve_http(server: "Server[Any]", port: int) -> None:
    """Serve at a port of this machine, until Ctrl-C."""
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=port, log_level="warning")
