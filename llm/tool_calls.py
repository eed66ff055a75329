"""Tools and calls as the OpenAI chat format has them, which every provider behind litellm and llama.cpp speak."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from warehouse.records import Call, Tool

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
                "name": wire,
                "description": tool.description,
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


def as_text(written: Sequence[WrittenCall]) -> str:
    """Calls that can't be read, as the text they are."""
    return "\n".join(f"{call.name}({call.arguments})" for call in written)


def _object(text: str) -> dict[str, Any] | None:
    try:
        loaded = orjson.loads(text or "{}")  # some providers leave the arguments of a call without any empty
    except orjson.JSONDecodeError:
        return None
    return loaded if isinstance(loaded, dict) else None
