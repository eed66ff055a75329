"""NeMo Gym's rows: a request to the responses API, and the action that a resources server expects as its answer.

The server is `single_step_tool_use_with_argument_comparison`: it compares the calls of one step with those that are due, or asks
that words are said where words are due. With `parallel_tool_call_rewarding` it wants no call besides.
"""

from collections.abc import Iterator
from typing import Any

from callwright.warehouse.exports.answered import rated
from callwright.warehouse.exports.examples import MOST_TOOLS, ExampleFormat, Message, TrainingExample
from callwright.warehouse.exports.tasks import TaskFormat, said_before_calls
from callwright.warehouse.exports.writing import Format
from callwright.warehouse.records import Sample

SERVER = "single_step_tool_use_with_argument_comparison"


def nemo_gym_row(example: TrainingExample) -> dict[str, Any]:
    """An example as a row; `origin` is ours, and goes along."""
    listed = [{"type": "function", "strict": False, **tool} for tool in example.tools]
    asked = {"input": [item for message in example.before for item in _items(message)], "tools": listed}
    return {"responses_create_params": asked, "expected_action": _action(example.last), "origin": example.origin}


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """A message as the responses API has it: calls and what they returned are items of their own."""
    if message["role"] == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
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
    return {"type": "function_call", "name": call["function"]["name"], "arguments": call["function"]["arguments"]}


def _task_row(sample: Sample, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """A task as a row of the resources server that an export brings: its key says which."""
    briefing = [{"role": "system", "content": sample.briefing}] if sample.briefing else []
    listed = [{"type": "function", "strict": False, **tool} for tool in tools]
    asked = {"input": [*briefing, *said_before_calls(sample)], "tools": listed}
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
FORMAT = _WORLDS.added_to(
    Format(
        name="nemo-gym",
        holds="a request and the expected action for each thing that an assistant should do: a call, several, or words; a resources"
        " server of the tasks and its rows in `environment`",
        readers=f"NeMo Gym, by its resources server `{SERVER}`",
        begin=ExampleFormat(nemo_gym_row, most_tools=MOST_TOOLS, answered=rated).begin,
        answers="may",
        is_for_training=True,
    )
)
