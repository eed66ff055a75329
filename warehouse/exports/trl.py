"""TRL's conversational format for supervised fine-tuning: `messages` and `tools`, a row for each conversation as far as it goes.

TRL trains on all that the assistant says in a row, so a row that is the beginning of a longer one is left to that one. Arguments
are objects, as chat templates write them; the tools are JSON text, which TRL's trainers read.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import JsonValue

from callwright.warehouse.exports.examples import ExampleFormat, Message, TrainingExample
from callwright.warehouse.exports.writing import Format, ReleaseSplit, json_text


def trl_row(example: TrainingExample) -> dict[str, Any]:
    """An example as a row; what TRL does not read says where the row comes from."""
    called = {call["id"]: call["function"]["name"] for one in example.messages for call in one.get("tool_calls", ())}
    listed = [{"type": "function", "function": tool} for tool in example.tools]
    messages = [_message(one, called) for one in example.messages]
    return {"messages": messages, "tools": json_text(listed), "origin": json_text(example.origin)}


def _message(message: Message, called: dict[str, str]) -> Message:
    """A message without what ties results to calls by name: in these templates their order does."""
    role, content = message["role"], message.get("content", "")
    if role == "tool":
        return {"role": role, "name": called[message["tool_call_id"]], "content": content}
    calls = [call["function"] for call in message.get("tool_calls", ())]
    made = [
        {"type": "function", "function": {"name": call["name"], "arguments": orjson.loads(call["arguments"])}}
        for call in calls
    ]
    return {"role": role, "content": content} | ({"tool_calls": made} if made else {})


def _header(parts: Sequence[ReleaseSplit]) -> dict[str, JsonValue]:
    files: list[JsonValue] = [{"split": part.split or "train", "path": f"{part.stem}.jsonl"} for part in parts]
    texts: list[JsonValue] = [{"name": name, "dtype": "string"} for name in ("tools", "origin", "canary")]
    features: list[JsonValue] = [{"name": "messages", "list": "json"}, *texts]
    return {
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"config_name": "default", "features": features},
    }


FORMAT = Format(
    name="trl",
    holds="conversations as far as the assistant should take them: `messages`, and `tools` as JSON text",
    readers="TRL's SFTTrainer, and what else reads messages and tools, with `datasets` 4.7 or newer",
    begin=ExampleFormat(trl_row, are_whole=True).begin,
    header=_header,
    is_for_training=True,
)
