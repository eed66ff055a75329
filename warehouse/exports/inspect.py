"""A task for inspect_ai with its data set: what a candidate does next, compared with the calls that are due.

The file of the task is the same for every release but for names; it is run from where it stands.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, StrictUndefined

from callwright.warehouse.exports.examples import ExampleFormat, Message, TrainingExample
from callwright.warehouse.exports.tasks import TaskFormat
from callwright.warehouse.exports.writing import TEST, Format, ReleaseSplit, json_text

TASK = "task.py"
_WORDS = ("name", "description", "parameters")


def inspect_row(example: TrainingExample) -> dict[str, Any]:
    """An example as a sample; the target is the JSON text of the calls that are due, `[]` where words are."""
    called = {call["id"]: call["function"]["name"] for one in example.messages for call in one.get("tool_calls", ())}
    due = [{"name": one["function"], "arguments": one["arguments"]} for one in _calls(example.last)]
    tools = [{word: tool[word] for word in _WORDS} for tool in example.tools]
    return {
        "id": f"{example.sample.key}-{example.turn}",
        "input": [_message(one, called) for one in example.before],
        "target": json_text(due),
        "metadata": {**example.origin, "tools": tools, "words": example.last.get("content", "")},
    }


def _message(message: Message, called: dict[str, str]) -> Message:
    made = {"role": message["role"], "content": message.get("content", "")}
    if message["role"] == "tool":
        identity = message["tool_call_id"]
        return made | {"tool_call_id": identity, "function": called[identity]}
    calls = _calls(message)
    return made | ({"tool_calls": calls} if calls else {})


def _calls(message: Message) -> list[dict[str, Any]]:
    return [
        {
            "id": call["id"],
            "function": call["function"]["name"],
            "arguments": orjson.loads(call["function"]["arguments"]),
            "type": "function",
        }
        for call in message.get("tool_calls", ())
    ]


def _write_task(parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
    """The task, which takes the test split unless it is told another."""
    stems = [part.stem for part in parts]
    environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)  # noqa: S701 - Python
    template = environment.from_string(
        files("callwright.warehouse.exports").joinpath("inspect_task.py.j2").read_text(encoding="utf-8")
    )
    path = folder / TASK
    default = TEST if TEST in stems else stems[-1]
    words = {"release": parts[0].source.release.name, "file": TASK, "default": default, "splits": len(stems) > 1}
    path.write_text(template.render(words), encoding="utf-8")
    return [path]


_WORLDS = TaskFormat({"environment/task.py": "inspect_task.py.j2", "environment/test_tasks.py": "inspect_tests.py.j2"})
FORMAT = _WORLDS.added_to(
    Format(
        name="inspect",
        holds=f"`{TASK}` and its data set: what a candidate does next, compared with the calls that are due; tasks in their worlds"
        " in `environment`",
        readers="inspect_ai: `inspect eval task.py --model PROVIDER/MODEL`",
        begin=ExampleFormat(inspect_row).begin,
        complete=_write_task,
    )
)
