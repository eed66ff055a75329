"""The MCP server of a folder, over standard input and output: `callwright mcp`.

A call runs in a thread of its own, so that others are answered meanwhile. It reports progress to
clients that ask for it, and stops when the client cancels it; what is done by then is kept.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from callwright.flows.agents.answers import short_text, shortened
from callwright.flows.agents.folder import AgentFolder
from callwright.flows.agents.tools import AgentTool, AgentWork, agent_tools
from callwright.flows.api.surroundings import ProgressStep, run_aside
from callwright.flows.options import spell_out, type_and_option
from callwright.flows.terminal_text import visible, visible_json
from callwright.warehouse.errors import CallwrightError, first_problem, store_error_of
from callwright.warehouse.extras import require_extra

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.session import ServerSession
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        Tool,
    )

_LONGEST = 8_000  # characters of a refusal, such as one that lists all mistakes of a recipe
_BETWEEN = 0.25  # seconds between two messages of progress
_INSTRUCTIONS = (
    "callwright makes and audits function-calling data sets: requests with the exact tool calls"
    " that are due. From an API to a data set: check_tools on its OpenAPI file, write_recipe,"
    " estimate, preview, build, funnel, samples, create_release, export. Of a data set that"
    " exists: audit. Paths are below the server's folder. "
)
_READS_ONLY = (
    "This server only reads: the tools that write files, build or ask models are left out. The"
    " user starts it with --allow-writes to have them."
)


class _Untitled(GenerateJsonSchema):
    """Schemas without a title for each field, which says its name again."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - pydantic's own
        """Return False."""
        return False


class _Offered:
    """A tool as it is offered: what a model reads of it, and the schemas of both sides."""

    def __init__(self, tool: AgentTool) -> None:
        self.tool = tool
        self.about, parameters = spell_out(tool.run)
        stated = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
        words = _words_of(tool.options)
        fields: dict[str, Any] = {one.name: _field(one, words) for one in stated}
        self.input: type[BaseModel] = create_model(
            tool.name, __config__=ConfigDict(extra="forbid"), **fields
        )
        self.output: type[BaseModel] = tool.run.__annotations__["return"]

    def listed(self) -> "Tool":
        """Return the tool as MCP lists it."""
        from mcp.types import Tool, ToolAnnotations

        changes = self.tool.changes
        return Tool(
            name=self.tool.name,
            description=self.about,
            input_schema=_schema(self.input, "validation"),
            output_schema=_schema(self.output, "serialization"),
            annotations=ToolAnnotations(
                read_only_hint=not changes, destructive_hint=False, open_world_hint=changes
            ),
        )


def _words_of(options: type | None) -> Mapping[str, str]:
    """Return the words of options that the command and the Python function take too."""
    stated = options.__annotations__ if options else {}
    return {name: type_and_option(one)[1].words for name, one in stated.items()}


def _field(one: Parameter, words: Mapping[str, str]) -> tuple[Any, Any]:
    told = type_and_option(one.annotation)[1].words or words.get(one.name) or None
    default = ... if one.default is one.empty else one.default
    return Annotated[one.annotation, Field(description=told)], default


def _schema(model: type[BaseModel], mode: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's own
    found = model.model_json_schema(mode=mode, schema_generator=_Untitled)
    return {name: one for name, one in found.items() if name not in ("title", "description")}


def make_server(folder: AgentFolder) -> "Server[Any]":
    """Return the server of a folder, in which this process runs.

    Raises ConfigurationError if the extra `mcp` is not installed.
    """
    require_extra("mcp")
    from mcp.server.lowlevel import Server
    from mcp.types import ListToolsResult

    every = {tool.name: _Offered(tool) for tool in agent_tools()}
    offered = {name: one for name, one in every.items() if folder.may_write or not one.tool.changes}

    async def list_tools(
        _asked: "ServerRequestContext[Any]", _page: "PaginatedRequestParams | None"
    ) -> "ListToolsResult":
        return ListToolsResult(tools=[one.listed() for one in offered.values()])

    async def call_tool(
        asked: "ServerRequestContext[Any]", call: "CallToolRequestParams"
    ) -> "CallToolResult":
        if call.name in offered:
            return await _called(offered[call.name], folder, call.arguments or {}, asked.session)
        if call.name in every:
            return _refused(f"{call.name} is left out. {_READS_ONLY}")
        return _refused(f"There is no tool {call.name!r}. The tools are {', '.join(offered)}.")

    return Server(
        "callwright",
        version=version("callwright"),
        instructions=_INSTRUCTIONS + ("" if folder.may_write else _READS_ONLY),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _called(
    offered: _Offered, folder: AgentFolder, arguments: Mapping[str, Any], session: "ServerSession"
) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    try:
        given = offered.input.model_validate(arguments)
    except ValidationError as error:
        return _refused(_problem_of(error, [*offered.input.model_fields]))
    values = {name: getattr(given, name) for name in offered.input.model_fields}
    try:
        with _reported(session) as tell:
            found = await run_aside(offered.tool.run(AgentWork(folder, tell), **values))
        body = shortened(found)
    except CallwrightError as error:
        return _refused(str(error))
    except OSError as error:
        if (unwritable := store_error_of(error)) is None:
            raise
        return _refused(str(unwritable))
    text = visible_json(json.dumps(body, ensure_ascii=False))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=body)


def _problem_of(error: ValidationError, known: Sequence[str]) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "extra_forbidden":
        return f"{first['loc'][0]!r} is no parameter. The parameters are {', '.join(known)}."
    return f"{first_problem(error)}."


def _refused(sentence: str) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(
        content=[TextContent(type="text", text=visible(short_text(sentence, _LONGEST)))],
        is_error=True,
    )


@contextmanager
def _reported(session: "ServerSession") -> Iterator[Any]:
    """Yield a function that another thread tells progress to, which goes to the client."""
    loop, waiting = asyncio.get_running_loop(), asyncio.Queue[ProgressStep]()

    async def report() -> None:
        told = 0
        while True:
            step = await waiting.get()
            while step.total and not waiting.empty():  # counts that newer ones replace
                step = waiting.get_nowait()
            told += 1
            counts = f": {step.done} of {step.total}" if step.total else ""
            await session.report_progress(told, None, f"{step.sentence}{counts}")
            await asyncio.sleep(_BETWEEN)

    reporting = asyncio.create_task(report())
    try:
        yield lambda step: loop.call_soon_threadsafe(waiting.put_nowait, step)
    finally:
        reporting.cancel()
