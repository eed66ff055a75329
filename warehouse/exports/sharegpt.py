"""The ShareGPT format with tools, as LLaMA-Factory and others read it, with the `dataset_info.json` that LLaMA-Factory wants.

People and observations stand at odd places, the assistant and its calls at even ones; so several calls, or what they returned,
are one message with a JSON list. All that the assistant says in a row is taught: a row that is the beginning of a longer one is
left to that one.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import orjson

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.answered import right_answers, right_runs
from callwright.warehouse.exports.examples import ExampleFormat, Message, TrainingExample
from callwright.warehouse.exports.writing import Format, ReleaseSplit, json_text, write_json

INFO = "dataset_info.json"
ASSISTANT = ("gpt", "function_call")
NOT_IN_TURN = "user and assistant do not take turns"


def sharegpt_row(example: TrainingExample) -> dict[str, Any]:
    """An example as a row; tools and system are text, "" where there are none. Raises RecordError where there is no place."""
    system = "\n".join(one["content"] for one in example.messages if one["role"] == "system")
    spoken = [one for one in example.messages if one["role"] != "system"]
    messages = [_message(role, list(group)) for role, group in groupby(spoken, lambda one: one["role"])]
    sides = [one["from"] in ASSISTANT for one in messages]
    if sides != [bool(at % 2) for at in range(len(sides))] or any(map(_speaks_twice, pairwise(spoken))):
        raise RecordError(NOT_IN_TURN)
    tools = json_text(list(example.tools)) if example.tools else ""
    return {"conversations": messages, "system": system, "tools": tools, "origin": json_text(example.origin)}


def _speaks_twice(neighbours: tuple[Message, Message]) -> bool:
    first, second = neighbours
    return bool(first["role"] == second["role"] == "assistant")


def _message(role: str, group: Sequence[Message]) -> dict[str, str]:
    first = group[0]
    match role:
        case "user":
            return {"from": "human", "value": "\n".join(one["content"] for one in group)}
        case "tool" if len(group) == 1:
            return {"from": "observation", "value": first["content"]}
        case "tool":
            return {"from": "observation", "value": json_text([_parsed(one["content"]) for one in group])}
        case _ if "tool_calls" not in first:
            return {"from": "gpt", "value": first["content"]}
        case _:
            calls = [call["function"] for call in first["tool_calls"]]
            made = [{"name": call["name"], "arguments": orjson.loads(call["arguments"])} for call in calls]
            return {"from": "function_call", "value": json_text(made[0] if len(made) == 1 else made)}


def _parsed(content: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return content


def _describe(parts: Iterable[ReleaseSplit], folder: Path) -> list[Path]:
    """What LLaMA-Factory must be told: which file is a data set, and which column is what."""
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    named = {
        "_".join(filter(None, (part.source.release.name, part.split))): {
            "file_name": f"{part.stem}.jsonl", "formatting": "sharegpt", "columns": columns,
        }
        for part in parts
    }  # fmt: skip
    return [write_json(folder / INFO, named)]


FORMAT = Format(
    name="sharegpt",
    holds="conversations as far as the assistant should take them, with calls and observations, and `dataset_info.json`",
    readers="LLaMA-Factory, Axolotl and others that read ShareGPT with tools",
    begin=ExampleFormat(sharegpt_row, are_whole=True, answered=right_answers, of_runs=right_runs).begin,
    answers="may",
    complete=_describe,
    is_for_training=True,
)
