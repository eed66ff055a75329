"""OpenAI's chat format: one JSON line a sample with `messages` and `tools`, ready for fine-tuning."""

from collections.abc import Iterator
from typing import Any, assert_never

import orjson

from warehouse.exports.names import plain_names
from warehouse.records import CallTurn, GoldCall, Language, ReplyTurn, ResultTurn, Sample, Tool, UserTurn
from warehouse.releases import ReleaseContent

Message = dict[str, Any]
REFUSAL: dict[Language, str] = {
    "en": "Sorry, none of my tools can do this.",
    "zh": "抱歉，我没有可以完成这件事的工具。",
}


def openai_lines(content: ReleaseContent) -> Iterator[dict[str, Any]]:
    """Each sample as {"messages", "tools", "metadata"}; tool names are made plain, the true ones are in the metadata."""
    for sample in content.samples:
        tools = [content.tools[key] for key in sample.candidates]
        names = plain_names(tools)
        yield {
            "messages": list(_messages(sample, names)),
            "tools": [_function(tool, names) for tool in tools],
            "metadata": {
                "key": sample.key, "kind": sample.kind, "language": sample.language, "category": sample.category,
                "names": {plain: name for name, plain in names.items() if plain != name},
            },
        }  # fmt: skip


def _function(tool: Tool, names: dict[str, str]) -> dict[str, Any]:
    function = {"name": names[tool.name], "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _messages(sample: Sample, names: dict[str, str]) -> Iterator[Message]:
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn(text=text, external=external):
                said = text if external is None else f"{text}\n[{external.app}] {external.text}"
                yield {"role": "user", "content": said}
            case CallTurn(calls=()):
                yield {"role": "assistant", "content": REFUSAL[sample.language]}
            case CallTurn(calls=calls):
                yield {"role": "assistant", "content": None, "tool_calls": _tool_calls(calls, names, index)}
            case ResultTurn(results=results):
                for number, result in enumerate(results):
                    content = result if isinstance(result, str) else orjson.dumps(result).decode()
                    yield {"role": "tool", "tool_call_id": f"call_{index - 1}_{number}", "content": content}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case _:
                assert_never(turn)


def _tool_calls(calls: tuple[GoldCall, ...], names: dict[str, str], turn: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{turn}_{number}",
            "type": "function",
            "function": {"name": names.get(call.tool, call.tool), "arguments": orjson.dumps(call.arguments).decode()},
        }
        for number, call in enumerate(calls)
    ]
