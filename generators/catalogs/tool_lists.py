"""Read lists of tools: an MCP server's `tools/list` reply, or OpenAI's `tools`, wrapped or bare."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Note, Problem, shown
from callwright.generators.catalogs.documents import (
    DocumentItem,
    parse_document,
    read_rows,
    the_file,
)
from callwright.language.packs import document_language
from callwright.warehouse.errors import ConfigurationError

MCP_REPLY = "a tools/list reply, {'tools': [...]} alone or as the 'result' of a JSON-RPC message,"


def read_mcp(path: Path) -> Catalog:
    """Read the tools of a reply; their category is the file's name."""
    rows = list(read_rows(the_file(path, MCP_REPLY), parse_document))
    problems = [row for row in rows if isinstance(row, Problem)]
    if problems:
        raise ConfigurationError(problems[0].message)
    pages = [row for row in rows if isinstance(row, DocumentItem)]
    return read_mcp_pages(pages, path.stem).catalog(path, MCP_REPLY)


def read_mcp_pages(
    pages: Sequence[DocumentItem], category: str, source: str = "mcp"
) -> CatalogBuilder:
    """Return the tools of a reply's pages, with their problems."""
    replies = [_reply_of(page.value)[1] for page in pages]
    lists = (listed for listed in replies if isinstance(listed, list))
    tools = [DocumentItem("", tool) for tool in chain.from_iterable(lists)]
    builder = CatalogBuilder(source, language=document_language(_descriptions(tools)))
    for page in pages:
        result, listed = _reply_of(page.value)
        if not isinstance(result, dict) or not isinstance(listed, list):
            message = f"{page.where} is {shown(page.value)}; {MCP_REPLY} is expected."
            raise ConfigurationError(message)
        inner = "/result/tools" if result is not page.value else "/tools"
        for index, listed_tool in enumerate(listed):
            where = f"{page.where}{inner}/{index}"
            if isinstance(listed_tool, dict):
                builder.put(_draft(listed_tool, where, category))
            else:
                builder.refuse(where, listed_tool)
        if page is pages[-1] and result.get("nextCursor"):
            cursor = shown(result["nextCursor"])
            message = (
                f"The reply ends with the cursor {cursor}: the server has more tools than these."
            )
            builder.report(page.where, "incomplete_listing", message)
    return builder


def _reply_of(page: JsonValue) -> tuple[JsonValue, JsonValue]:
    result = page.get("result", page) if isinstance(page, dict) else page
    return result, result.get("tools") if isinstance(result, dict) else None


def _draft(fields: dict[str, JsonValue], where: str, category: str) -> ToolDraft:
    """Return a tool's draft; without a description, its own or its annotations' title is used."""
    name, description = fields.get("name"), fields.get("description")
    beside = fields.get("annotations")
    title = fields.get("title") or (beside.get("title") if isinstance(beside, dict) else None)
    notes: list[Note] = []
    if not description and isinstance(title, str) and title:
        description = title
        message = f"There is no description; the title {title!r} stands in for it."
        notes.append(Note("no_description", message))
    parameters, returns = fields.get("inputSchema"), fields.get("outputSchema")
    return ToolDraft(where, category, name, description, parameters, returns, notes=tuple(notes))


OPENAI_LIST = (
    "a JSON list (or JSON lines) of OpenAI tools ({'type': 'function', 'function': {...}}) or of"
    " bare functions"
)
# where lists of tools stand, Gemini's within tools, and where a function's parameters do
_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
_SCHEMAS = ("parameters", "parametersJsonSchema", "input_schema", "inputSchema")


def read_openai(path: Path) -> Catalog:
    """Read OpenAI functions from a list, from `tools` or `functions`, or from JSON lines.

    Anthropic's tools and Gemini's function declarations are read as well. All are in one
    category, named after the file.
    """
    rows = list(read_rows(the_file(path, OPENAI_LIST), parse_document))
    problems = [row for row in rows if isinstance(row, Problem)]
    if rows and len(problems) == len(rows):
        raise ConfigurationError(problems[0].message)
    listed = [pair for row in rows if not isinstance(row, Problem) for pair in _listed(row)]
    if rows and not listed and not problems:
        held = rows[0].value if isinstance(rows[0], DocumentItem) else None
        raise ConfigurationError(f"{str(path)!r} holds {shown(held)}; {OPENAI_LIST} is expected.")
    builder = CatalogBuilder("openai", language=document_language(_descriptions(listed)))
    builder.problems += problems
    for item in listed:
        if not isinstance(item.value, dict):
            builder.refuse(item.where, item.value)
            continue
        # a table's row has null for what another tool has
        function, kind = item.value.get("function") or item.value, item.value.get("type")
        is_anthropic = item.value.get("input_schema") is not None  # whose types have other names
        is_function = kind in ("function", None) or is_anthropic
        if not is_function or not isinstance(function, dict):
            builder.entries += 1
            message = f"A tool of type {shown(kind)} is no function with parameters; left out."
            builder.report(item.where, "unsupported", message)
            continue
        # OpenAI's reference: leaving the parameters out defines a function without any.
        stated = {word: function[word] for word in _SCHEMAS if word in function}
        nothing: JsonValue = None if stated else {"type": "object", "properties": {}}
        parameters = next((one for one in stated.values() if one is not None), nothing)
        name, description = function.get("name"), function.get("description")
        builder.put(ToolDraft(item.where, path.stem, name, description, parameters))
    return builder.catalog(path, OPENAI_LIST)


def _listed(row: DocumentItem) -> list[DocumentItem]:
    """Return the tools in a row's list, or else the row itself.

    A file that is one object without such a list has none.
    """
    fields = row.value if isinstance(row.value, dict) else {}
    for key in _LISTS:
        listed = fields.get(key)
        if isinstance(listed, list):
            where = f"{row.where}/{key}"
            inside = (DocumentItem(f"{where}/{at}", stated) for at, stated in enumerate(listed))
            return [one for item in inside for one in _listed(item)]
    return [] if row.where.endswith("#") else [row]


def _descriptions(items: list[DocumentItem]) -> Iterator[str]:
    for item in items:
        stated = item.value.get("function", item.value) if isinstance(item.value, dict) else None
        text = stated.get("description") if isinstance(stated, dict) else None
        if isinstance(text, str):
            yield text


MCP = CatalogFormat("mcp", read_mcp)
OPENAI = CatalogFormat("openai", read_openai)
