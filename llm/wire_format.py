"""OpenAI's chat format: messages, answer schemas, tools and calls as every provider behind
litellm and llama.cpp reads them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from callwright.llm.answer_schemas import StatedSchema
from callwright.llm.answers import LONGEST, validate_text
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.written_calls import after_thought, read_object, thought_of
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Tool


def wire_messages(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """The messages as OpenAI's chat format has them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def wire_question(
    request: ChatRequest, names: dict[str, str], stated: StatedSchema | None
) -> dict[str, Any]:
    """Messages, tools and schema of a request, the schema as it is `stated`."""
    tools = {"tools": wire_tools(request.tools, names)} if request.tools else {}
    if request.schema is None or stated is None:
        return {"messages": wire_messages(request.messages), **tools}
    if stated.is_told:
        told = with_schema(request.messages, request.schema)
    else:
        told = wire_messages(request.messages)
    shape = {"response_format": stated.response_format} if stated.response_format else {}
    return {"messages": told, **shape, **tools}


def with_schema(messages: Sequence[ChatMessage], schema: dict[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema stated in the first one, for providers that take none."""
    wish = (
        "Reply with nothing but a JSON object that fits this JSON"
        f" Schema:\n{orjson.dumps(schema).decode()}"
    )
    stated = wire_messages(messages)
    if stated and stated[0]["role"] == "system":
        return [{"role": "system", "content": f"{stated[0]['content']}\n\n{wish}"}, *stated[1:]]
    return [{"role": "system", "content": wish}, *stated]


LONGEST_NAME = 64
_SHOWN = 100  # characters
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class WrittenCall(NamedTuple):
    """A call as the model wrote it: the name on the wire, and the arguments as text."""

    name: str
    arguments: str


def wire_names(tools: Sequence[Tool]) -> dict[str, str]:
    """The name of each tool on the wire, where only [A-Za-z0-9_-]{1,64} may be used, with its
    own name behind it.
    """
    names: dict[str, str] = {}
    taken = {
        tool.name for tool in tools if _FOREIGN.sub("_", tool.name)[:LONGEST_NAME] == tool.name
    }
    for tool in tools:
        plain = _FOREIGN.sub("_", tool.name)[:LONGEST_NAME]
        wire, number = plain, 1
        while wire in names or (wire in taken and wire != tool.name):
            number += 1
            wire = f"{plain[: LONGEST_NAME - len(str(number)) - 1]}_{number}"
        names[wire] = tool.name
    return names


def wire_tools(tools: Sequence[Tool], names: dict[str, str]) -> list[dict[str, Any]]:
    """The tools as a request lists them, in the order of `names`."""
    return [
        {
            "type": "function",
            "function": {
                **tool.signature,
                "name": wire,
                "parameters": {"type": "object", "properties": {}, **tool.parameters},
            },
        }
        for wire, tool in zip(names, tools, strict=True)
    ]


def read_calls(written: Iterable[WrittenCall]) -> tuple[Call, ...] | None:
    """The calls by the names that they are written with; None where there are none, or where one
    of them has no JSON object.
    """
    calls = []
    for call in written:
        arguments = _object(call.arguments)
        if arguments is None or not call.name:
            return None
        calls.append(Call(tool=call.name, arguments=arguments))
    return tuple(calls) or None


def read_reply(text: str, written: Sequence[WrittenCall]) -> tuple[str, tuple[Call, ...] | None]:
    """What a reply says behind its train of thought, and the calls in it; calls that can't be read
    stand in the text.

    Servers without a parser for thoughts leave them in the text. Nothing is kept past its bound.
    """
    said, calls = after_thought(text), read_calls(written)
    text = text if said is None else said
    if written and calls is None:
        text = "\n".join(part for part in (text, as_text(written)) if part)
    return text[: LONGEST + 1], calls


_SAID, _THOUGHT = frozenset({"text", "output_text"}), frozenset({"thinking", "reasoning"})


def read_content(content: object) -> str:
    """The text of a message: its content, or the parts of text in it, joined; what was thought is
    no part of it.

    Raises ReplyError where it holds anything else.
    """
    if isinstance(content, str) or content is None:
        return content or ""
    parts = content if isinstance(content, list) else [content]
    said = [
        part for part in parts if not (isinstance(part, dict) and str(part.get("type")) in _THOUGHT)
    ]
    texts = [_text_of(part) for part in said]
    if not isinstance(content, list) or None in texts:
        problem = f"The content of the reply is no text: {shown_json(content)}."
        raise ReplyError(problem, may_be_charged=True)
    return "".join(text for text in texts if text)


def _text_of(part: object) -> str | None:
    """The text that a part of a message is, None where it is something else."""
    if isinstance(part, dict):
        part = part.get("text") if str(part.get("type", "text")) in _SAID else None
    return part if isinstance(part, str) else None


def read_tool_calls(stated: object) -> list[WrittenCall]:
    """The calls of a message, as they are written.

    Raises ReplyError where they have another form.
    """
    listed = stated or []
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    functions = [call["function"] for call in calls if isinstance(call.get("function"), dict)]
    if not isinstance(listed, list) or len(functions) < len(listed):
        problem = f"The tool_calls of the reply are no calls: {shown_json(stated)}."
        raise ReplyError(problem, may_be_charged=True)
    return [_written(function) for function in functions]


def _written(function: Mapping[str, Any]) -> WrittenCall:
    """A call as it stands; a name or arguments that are no text, as some servers write them,
    become the text they are.
    """
    name, arguments = function.get("name") or "", function.get("arguments") or ""
    return WrittenCall(
        *(
            part if isinstance(part, str) else orjson.dumps(part).decode()
            for part in (name, arguments)
        )
    )


def shown_json(value: object) -> str:
    """The beginning of a value from elsewhere, as JSON."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def read_reasoning(stated: object, text: str) -> str:
    """What a model thought: as its provider states it, else the train of thought at the
    beginning of its text.
    """
    return (stated if isinstance(stated, str) and stated else thought_of(text))[:LONGEST].strip()


def as_text(written: Sequence[WrittenCall]) -> str:
    """Calls that can't be read, as the text they are."""
    return "\n".join(f"{call.name}({call.arguments})" for call in written)


def _object(text: str) -> dict[str, Any] | None:
    try:
        validate_text(text)
    except ReplyError:
        return None
    # some providers leave the arguments of a call without any empty
    return read_object(text.strip() or "{}")
