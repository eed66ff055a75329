"""Rows for training: OpenAI's chat format, ShareGPT's with tools, NeMo Gym's resources server."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.answered import rated, right_answers, right_runs
from callwright.warehouse.exports.examples import (
    MOST_TOOLS,
    ExampleFormat,
    Message,
    TrainingExample,
)
from callwright.warehouse.exports.tasks import REPLY_TOOL, TaskFormat, is_spoken
from callwright.warehouse.exports.writing import Format, ReleaseSplit, json_text, write_json
from callwright.warehouse.records import Sample


def openai_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a line of a training file, ending with what the assistant should do.

    Earlier messages of the assistant have the weight 0: each is taught by the row that ends with
    it. A row has no place for its origin, which a second file states line by line. Refused are:

    - a field that the provider does not know, in a row or in a message;
    - a call that no tool message follows at once, or a tool message that follows no call;
    - a message of the assistant with neither text nor calls;
    - a row without a message of the assistant at its end;
    - arguments that are no JSON text of an object;
    - more than 128 tools, or a name that is not of at most 64 letters, digits, `_` and `-`.

    A call that its tool's own schema refuses is accepted, and would be taught; such rows are
    left out.
    """
    listed = [{"type": "function", "function": tool} for tool in example.tools]
    last = {name: value for name, value in example.last.items() if name != "reasoning_content"}
    before = [one | {"weight": 0} if one["role"] == "assistant" else one for one in example.before]
    return {"messages": [*before, last]} | ({"tools": listed} if listed else {})


OPENAI = Format(
    name="openai",
    holds=(
        "rows for fine-tuning, each ending with what the assistant should do: ask while a required"
        " argument is missing, call once all are known, answer after a result, or say that no tool"
        " fits; where each came from in `*.origins.jsonl`"
    ),
    readers=(
        "fine-tuning by OpenAI, Azure, Together, Fireworks, Mistral and others with their format"
    ),
    begin=ExampleFormat(
        openai_row,
        most_tools=MOST_TOOLS,
        has_origins=True,
        is_templated=True,
        answered=right_answers,
        of_runs=right_runs,
    ).begin,
    answers="may",
    is_for_training=True,
    is_chat=True,
)


INFO = "dataset_info.json"
ASSISTANT = ("gpt", "function_call")
NOT_IN_TURN = "user and assistant do not take turns"


def sharegpt_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a row; tools and system are text, "" if there are none.

    Raises RecordError if there is no place for it.

    People and observations have odd places, the assistant and its calls even ones; so several
    calls, or their results, are one message with a JSON list. Everything that the assistant says
    in a row is taught: a row that begins a longer one is left to that one.
    """
    system = "\n".join(one["content"] for one in example.messages if one["role"] == "system")
    spoken = [one for one in example.messages if one["role"] != "system"]
    groups = groupby(spoken, itemgetter("role"))
    messages = [_turn_message(role, list(group)) for role, group in groups]
    sides = [one["from"] in ASSISTANT for one in messages]
    found = (one["role"] == other["role"] == "assistant" for one, other in pairwise(spoken))
    speaks_twice = any(found)
    if speaks_twice or sides != [bool(at % 2) for at in range(len(sides))]:
        raise RecordError(NOT_IN_TURN)
    tools = json_text(list(example.tools)) if example.tools else ""
    told = {"conversations": messages, "system": system, "tools": tools}
    return {**told, "origin": json_text(example.origin)}


def _turn_message(role: str, group: Sequence[Message]) -> dict[str, str]:
    first = group[0]
    match role:
        case "user":
            return {"from": "human", "value": "\n".join(one["content"] for one in group)}
        case "tool" if len(group) == 1:
            return {"from": "observation", "value": first["content"]}
        case "tool":
            results = [_parsed(one["content"]) for one in group]
            return {"from": "observation", "value": json_text(results)}
        case _ if "tool_calls" not in first:
            return {"from": "gpt", "value": first["content"]}
        case _:
            calls = [call["function"] for call in first["tool_calls"]]
            given = ((call["name"], orjson.loads(call["arguments"])) for call in calls)
            plain_calls = [{"name": name, "arguments": arguments} for name, arguments in given]
            value = json_text(plain_calls[0] if len(plain_calls) == 1 else plain_calls)
            return {"from": "function_call", "value": value}


def _parsed(content: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return content


def _describe(parts: Iterable[ReleaseSplit], folder: Path) -> list[Path]:
    """Write for LLaMA-Factory which file is a data set, and what each column means."""
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    named = {}
    for part in parts:
        name = "_".join(filter(None, (part.source.release.name, part.split)))
        told = {"file_name": f"{part.stem}.jsonl", "formatting": "sharegpt", "columns": columns}
        named[name] = told
    return [write_json(folder / INFO, named)]


SHAREGPT = Format(
    name="sharegpt",
    holds=(
        "conversations as far as the assistant should take them, with calls and observations, and"
        " `dataset_info.json`"
    ),
    readers="LLaMA-Factory, Axolotl and others that read ShareGPT with tools",
    begin=ExampleFormat(
        sharegpt_row, are_whole=True, is_templated=True, answered=right_answers, of_runs=right_runs
    ).begin,
    answers="may",
    complete=_describe,
    is_for_training=True,
    is_chat=True,
)


SERVER = "single_step_tool_use_with_argument_comparison"


def nemo_gym_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a row: a responses API request, and the action that SERVER expects.

    `origin` is ours and is passed along. The server compares the calls of one step with those
    that are due, or asks that words are said where words are due. With
    `parallel_tool_call_rewarding` it allows no other call.
    """
    listed = [{"type": "function", "strict": False, **tool} for tool in example.tools]
    items = [item for message in example.before for item in _items(message)]
    model_request = {"responses_create_params": {"input": items, "tools": listed}}
    return {**model_request, "expected_action": _action(example.last), "origin": example.origin}


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message as the responses API has it: calls and their results are separate items."""
    if message["role"] == "tool":
        call, output = message["tool_call_id"], message["content"]
        yield {"type": "function_call_output", "call_id": call, "output": output}
        return
    if message.get("content"):
        yield {"type": "message", "role": message["role"], "content": message["content"]}
    yield from (_call(call) | {"call_id": call["id"]} for call in message.get("tool_calls", ()))


def _action(message: Message) -> dict[str, Any]:
    calls = [_call(call) for call in message.get("tool_calls", ())]
    match calls:
        case []:
            return {"type": "message", "content": message["content"]}
        case [call]:
            return call
        case _:
            return {"type": "function_call_batch", "calls": calls}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {"type": "function_call", "name": function["name"], "arguments": function["arguments"]}


def _task_row(sample: Sample, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a task as a row for the export's resources server, identified by its key."""
    briefing = [{"role": "system", "content": sample.briefing}] if sample.briefing else []
    shown = [*tools, *([REPLY_TOOL] if is_spoken(sample) else [])]
    listed = [{"type": "function", "strict": False, **tool} for tool in shown]
    request = {"role": "user", "content": sample.request}
    asked = {"input": [*briefing, request], "tools": listed}
    return {"responses_create_params": asked, "key": sample.key}


_WORLDS = TaskFormat(
    {
        "environment/app.py": "nemo_gym_app.py.j2",
        "environment/configs/callwright_{word}.yaml": "nemo_gym.yaml.j2",
        "environment/requirements.txt": "nemo_gym_requirements.txt.j2",
        "environment/test_app.py": "nemo_gym_tests.py.j2",
    },
    row_of=_task_row,
)
NEMO_GYM = _WORLDS.added_to(
    Format(
        name="nemo-gym",
        holds=(
            "a request and the expected action for each thing that an assistant should do: a call,"
            " several, or words; a resources server of the tasks and its rows in `environment`"
        ),
        readers=f"NeMo Gym, by its resources server `{SERVER}`",
        begin=ExampleFormat(nemo_gym_row, most_tools=MOST_TOOLS, answered=rated).begin,
        answers="may",
        is_for_training=True,
    )
)
