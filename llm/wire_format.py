"""OpenAI's chat format as litellm and llama.cpp read it: messages, schemas, tools, calls."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from callwright.llm.answer_schemas import StatedSchema
from callwright.llm.answers import LONGEST, validate_text
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.written_calls import after_thought, read_object, thought_of
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.wire_names import NO_NAMES, WireNames
from callwright.warehouse.wire_schemas import wire_schema


def wire_messages(
    messages: Sequence[ChatMessage], names: WireNames = NO_NAMES
) -> list[dict[str, Any]]:
    """Return the messages in OpenAI's chat format; `names` are those of `wire_names`."""
    wired: list[dict[str, Any]] = []
    unanswered: list[str] = []
    for at, message in enumerate(messages):
        wired.append({"role": message.role, "content": message.content})
        if message.calls:
            unanswered = [f"call_{at}_{number}" for number in range(len(message.calls))]
            wired[-1]["tool_calls"] = [
                {
                    "id": name,
                    "type": "function",
                    "function": {
                        "name": names.tool(call.tool),
                        "arguments": orjson.dumps(
                            names.arguments(call.tool, call.arguments)
                        ).decode(),
                    },
                }
                for name, call in zip(unanswered, message.calls, strict=True)
            ]
        elif message.role == "tool":
            wired[-1]["tool_call_id"] = unanswered.pop(0) if unanswered else f"call_{at}"
    return wired


def wire_question(
    request: ChatRequest, names: WireNames, stated: StatedSchema | None
) -> dict[str, Any]:
    """Return the messages, tools and schema of a request, with the schema as `stated`."""
    tools = {"tools": wire_tools(request.tools, names)} if request.tools else {}
    if request.schema is None or stated is None:
        return {"messages": wire_messages(request.messages, names), **tools}
    if stated.is_told:
        wire_texts = with_schema(request.messages, request.schema)
    else:
        wire_texts = wire_messages(request.messages)
    shape = {"response_format": stated.response_format} if stated.response_format else {}
    return {"messages": wire_texts, **shape, **tools}


def with_schema(messages: Sequence[ChatMessage], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages with the schema in the first one, for providers that accept none."""
    wish = (
        "Reply with nothing but a JSON object that fits this JSON"
        f" Schema:\n{orjson.dumps(schema).decode()}"
    )
    stated = wire_messages(messages)
    if stated and stated[0]["role"] == "system":
        return [{"role": "system", "content": f"{stated[0]['content']}\n\n{wish}"}, *stated[1:]]
    return [{"role": "system", "content": wish}, *stated]


_SHOWN = 100  # characters


class WireCall(NamedTuple):
    """A call as the model wrote it: the name on the wire, and the arguments as text."""

    name: str
    arguments: str


def wire_tools(tools: Sequence[Tool], names: WireNames) -> list[dict[str, Any]]:
    """Return the tools as a request lists them, one of each name, as all interfaces take them."""
    first: dict[str, Tool] = {}
    for tool in tools:
        first.setdefault(tool.name, tool)
    shown = (names.shown(tool) for tool in first.values())
    functions = ({**tool.signature, "parameters": wire_schema(tool).schema} for tool in shown)
    return [{"type": "function", "function": function} for function in functions]


def read_calls(written: Iterable[WireCall]) -> tuple[Call, ...] | None:
    """Return the calls under their written names; None if none, or one lacks a name or object."""
    calls = []
    for call in written:
        arguments = _object(call.arguments)
        if arguments is None or not call.name:
            return None
        calls.append(Call(tool=call.name, arguments=arguments))
    return tuple(calls) or None


def read_reply(text: str, written: Sequence[WireCall]) -> tuple[str, tuple[Call, ...] | None]:
    """Return what a reply says after its train of thought, and its calls.

    Calls that can't be read are put into the text. Servers without a parser for thoughts leave
    them in the text. Nothing is kept beyond its bound.
    """
    said, calls = after_thought(text), read_calls(written)
    text = text if said is None else said
    if written and calls is None:
        text = "\n".join(part for part in (text, as_text(written)) if part)
    return text[: LONGEST + 1], calls


_SAID, _THOUGHT = frozenset({"text", "output_text"}), frozenset({"thinking", "reasoning"})


def read_content(content: object) -> str:
    """Return the joined text of a message without thoughts; ReplyError for other content."""
    if isinstance(content, str) or content is None:
        return content or ""
    parts = content if isinstance(content, list) else [content]
    kinds = (str(part.get("type")) if isinstance(part, dict) else "" for part in parts)
    said = [part for part, kind in zip(parts, kinds, strict=True) if kind not in _THOUGHT]
    texts = [*map(_text_of, said)]
    if not isinstance(content, list) or None in texts:
        problem = f"The content of the reply is no text: {shown_json(content)}."
        raise ReplyError(problem, may_be_charged=True)
    return "".join(text for text in texts if text)


def _text_of(part: object) -> str | None:
    """Return the text of a part of a message, or None if the part is something else."""
    if isinstance(part, dict):
        part = part.get("text") if str(part.get("type", "text")) in _SAID else None
    return part if isinstance(part, str) else None


def read_tool_calls(stated: object) -> list[WireCall]:
    """Return the calls of a message as written.

    Raises ReplyError if they have another form.
    """
    listed = stated or []
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    functions = [call["function"] for call in calls if isinstance(call.get("function"), dict)]
    if not isinstance(listed, list) or len(functions) < len(listed):
        problem = f"The tool_calls of the reply are no calls: {shown_json(stated)}."
        raise ReplyError(problem, may_be_charged=True)
    return [_written(function) for function in functions]


def _written(function: Mapping[str, Any]) -> WireCall:
    """Return a call as written; a name or arguments that are no text become JSON text."""
    given = (function.get("name") or "", function.get("arguments") or "")
    name, arguments = (one if isinstance(one, str) else orjson.dumps(one).decode() for one in given)
    return WireCall(name, arguments)


def shown_json(value: object) -> str:
    """Return the beginning of an external value, as JSON."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def read_reasoning(stated: object, text: str) -> str:
    """Return what a model thought, by its provider or else from the start of its text."""
    return (stated if isinstance(stated, str) and stated else thought_of(text))[:LONGEST].strip()


def as_text(written: Sequence[WireCall]) -> str:
    """Return unreadable calls as text."""
    return "\n".join(f"{call.name}({call.arguments})" for call in written)


def _object(text: str) -> dict[str, Any] | None:
    try:
        validate_text(text)
    except ReplyError:
        return None
    # some providers leave the arguments of a call without any empty
    return read_object(text.strip() or "{}")
