"""OpenAI's chat format: messages, answer schemas, tools and calls as every provider behind litellm and llama.cpp reads them."""

import re
from collections.abc import Iterable, Sequence
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


def wire_question(request: ChatRequest, names: dict[str, str], stated: StatedSchema | None) -> dict[str, Any]:
    """Messages, tools and schema of a request, the schema as it is `stated`."""
    tools = {"tools": wire_tools(request.tools, names)} if request.tools else {}
    if request.schema is None or stated is None:
        return {"messages": wire_messages(request.messages), **tools}
    told = with_schema(request.messages, request.schema) if stated.is_told else wire_messages(request.messages)
    shape = {"response_format": stated.response_format} if stated.response_format else {}
    return {"messages": told, **shape, **tools}


def with_schema(messages: Sequence[ChatMessage], schema: dict[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema stated in the first one, for providers that take none."""
    wish = f"Reply with nothing but a JSON object that fits this JSON Schema:\n{orjson.dumps(schema).decode()}"
    stated = wire_messages(messages)
    if stated and stated[0]["role"] == "system":
        return [{"role": "system", "content": f"{stated[0]['content']}\n\n{wish}"}, *stated[1:]]
    return [{"role": "system", "content": wish}, *stated]


LONGEST_NAME = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class WrittenCall(NamedTuple):
    """A call as the model wrote it: the name on the wire, and the arguments as text."""

    name: str
    arguments: str


def wire_names(tools: Sequence[Tool]) -> dict[str, str]:
    """The name of each tool on the wire, where only [A-Za-z0-9_-]{1,64} may be used, with its own name behind it."""
    names: dict[str, str] = {}
    taken = {tool.name for tool in tools if _FOREIGN.sub("_", tool.name)[:LONGEST_NAME] == tool.name}
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


def read_calls(written: Iterable[WrittenCall], names: dict[str, str]) -> tuple[Call, ...] | None:
    """The calls with the tools' own names; None where there are none, or where one of them has no JSON object.

    A name that no tool has stays as it was written: it is what the model called.
    """
    calls = []
    for call in written:
        arguments = _object(call.arguments)
        if arguments is None or not call.name:
            return None
        calls.append(Call(tool=names.get(call.name, call.name), arguments=arguments))
    return tuple(calls) or None


def read_reply(text: str, written: Sequence[WrittenCall], names: dict[str, str]) -> tuple[str, tuple[Call, ...] | None]:
    """What a reply says behind its train of thought, and the calls in it; calls that can't be read stand in the text.

    Servers without a parser for thoughts leave them in the text. Nothing is kept past its bound.
    """
    said, calls = after_thought(text), read_calls(written, names)
    text = text if said is None else said
    if written and calls is None:
        text = "\n".join(part for part in (text, as_text(written)) if part)
    return text[: LONGEST + 1], calls


def read_reasoning(stated: object, text: str) -> str:
    """What a model thought: as its provider states it, else the train of thought at the beginning of its text."""
    return (stated if isinstance(stated, str) and stated else thought_of(text))[:LONGEST].strip()


def as_text(written: Sequence[WrittenCall]) -> str:
    """Calls that can't be read, as the text they are."""
    return "\n".join(f"{call.name}({call.arguments})" for call in written)


def _object(text: str) -> dict[str, Any] | None:
    try:
        validate_text(text)
    except ReplyError:
        return None
    return read_object(text.strip() or "{}")  # some providers leave the arguments of a call without any empty
