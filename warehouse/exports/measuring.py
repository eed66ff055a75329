"""An assistant's next steps for evaluation tools: inspect_ai, Langfuse datasets, promptfoo."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.examples import (
    ExampleFormat,
    Message,
    TrainingExample,
    names_by_call,
)
from callwright.warehouse.exports.tasks import TaskFormat
from callwright.warehouse.exports.writing import TEST, Format, ReleaseSplit, Write, json_text
from callwright.warehouse.templates import sandbox

TASK = "task.py"
_WORDS = ("name", "description", "parameters")


def inspect_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a sample whose target is the JSON of the due calls, `[]` for words."""
    called = names_by_call(example)
    due = [{"name": one["function"], "arguments": one["arguments"]} for one in _calls(example.last)]
    tools = [{word: tool[word] for word in _WORDS} for tool in example.tools]
    return {
        "id": f"{example.sample.key}-{example.turn}",
        "input": [_message(one, called) for one in example.before],
        "target": json_text(due),
        "metadata": {**example.origin, "tools": tools, "words": example.last.get("content", "")},
    }


def _message(message: Message, called: dict[str, str]) -> Message:
    plain_message = {"role": message["role"], "content": message.get("content", "")}
    if message["role"] == "tool":
        identity = message["tool_call_id"]
        return plain_message | {"tool_call_id": identity, "function": called[identity]}
    calls = _calls(message)
    return plain_message | ({"tool_calls": calls} if calls else {})


def _calls(message: Message) -> list[dict[str, Any]]:
    found = []
    for call in message.get("tool_calls", ()):
        name, arguments = call["function"]["name"], orjson.loads(call["function"]["arguments"])
        one = {"id": call["id"], "function": name, "arguments": arguments, "type": "function"}
        found.append(one)
    return found


def _write_task(parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
    """Write the task, for the test split by default; only names differ between releases."""
    stems = [part.stem for part in parts]
    text = files("callwright.warehouse.exports").joinpath("inspect_task.py.j2").read_text("utf-8")
    path = folder / TASK
    default = TEST if TEST in stems else stems[-1]
    words = {"file": TASK, "default": default, "splits": len(stems) > 1}
    words |= {"release": parts[0].source.release.name}
    template = sandbox(keep_trailing_newline=True).from_string(text)
    path.write_text(template.render(words), encoding="utf-8")
    return [path]


_WORLDS = TaskFormat(
    {
        "environment/task.py": "inspect_task.py.j2",
        "environment/test_tasks.py": "inspect_tests.py.j2",
    }
)
INSPECT = _WORLDS.added_to(
    Format(
        name="inspect",
        holds=(
            f"`{TASK}` and its data set: what a candidate does next, compared with the calls that"
            " are due; tasks in their worlds in `environment`"
        ),
        readers="inspect_ai: `inspect eval task.py --model PROVIDER/MODEL`",
        begin=ExampleFormat(inspect_row).begin,
        complete=_write_task,
    )
)


def _begin(part: ReleaseSplit) -> Write:
    """Return a function that writes an example as a dataset item, replacing the same item."""
    name = "/".join(filter(None, (part.source.release.name, part.split)))

    def row(example: TrainingExample) -> dict[str, Any]:
        tools = [{"type": "function", "function": tool} for tool in example.tools]
        return {
            "datasetName": name,
            "id": f"{example.sample.key}-{example.turn}",
            "input": {"messages": list(example.before), "tools": tools},
            "expectedOutput": example.last,
            "metadata": example.origin,
        }

    return ExampleFormat(row).begin(part)


LANGFUSE = Format(
    name="langfuse",
    holds="items of a dataset: the conversation so far with its tools, and what is expected",
    readers="Langfuse: each line is the body of a request to `POST /api/public/dataset-items`",
    begin=_begin,
)


CONFIG = "promptfooconfig.yaml"
PORT = 4318  # of the protocol: promptfoo listens there for the spans of the agent
_TEMPLATES = {"{{": "{\\u007b", "{%": "{\\u0025", "{#": "{\\u0023"}


def promptfoo_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a test against the trajectory: the calls in an agent's traces.

    It shows the conversation as messages and passes the tools to the provider; assertions ask
    for each due call with exactly its arguments, and for no other call. Messages are JSON text,
    without anything that promptfoo would take for a template.
    """
    due = [call["function"] for call in example.last.get("tool_calls", ())]
    if any(sign in call["arguments"] for call in due for sign in _TEMPLATES):
        raise RecordError("an argument that is due has braces that promptfoo takes for a template")
    messages = json_text(example.before)
    for sign, escaped in _TEMPLATES.items():
        messages = messages.replace(sign, escaped)
    tools = [{"type": "function", "function": tool} for tool in example.tools]
    assertions: list[dict[str, Any]] = []
    for call in due:
        wanted = {"name": call["name"], "args": orjson.loads(call["arguments"]), "mode": "exact"}
        assertions.append({"type": "trajectory:tool-args-match", "value": wanted})
    count = {"type": "tool", "min": len(due), "max": len(due)}
    counted = {"type": "trajectory:step-count", "value": count}
    return {
        "description": f"{example.sample.key}-{example.turn}",
        "vars": {"messages": messages},
        "options": {"tools": tools},
        "assert": [*assertions, counted],
        "metadata": {**example.origin, "words": example.last.get("content", "")},
    }


def _write_config(parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
    """Write the configuration, which uses the test split, or the only file there is."""
    stems = [part.stem for part in parts]
    http: JsonValue = {"enabled": True, "host": "127.0.0.1", "port": PORT}
    config: dict[str, JsonValue] = {
        "description": f"{parts[0].source.release.name}: calls that are due",
        "prompts": ["{{ messages }}"],
        "tracing": {"enabled": True, "otlp": {"http": http}},
        "tests": f"file://{TEST if TEST in stems else stems[-1]}.jsonl",
    }
    path = folder / CONFIG
    path.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return [path]


PROMPTFOO = Format(
    name="promptfoo",
    holds=f"`{CONFIG}` and its tests: the conversation so far, and assertions about the trajectory",
    readers="promptfoo: `promptfoo eval --providers PROVIDER`, of an agent that traces its calls",
    begin=ExampleFormat(promptfoo_row).begin,
    complete=_write_config,
)
