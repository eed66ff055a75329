"""NeMo Gym's rows: a request to the responses API, and the action that a resources server expects as its answer.

The server is `single_step_tool_use_with_argument_comparison`: it compares the calls of one step with those that are due, or asks
that words are said where words are due. With `parallel_tool_call_rewarding` it wants no call besides.
"""

from collections.abc import Iterator
from typing import Any

from callwright.warehouse.exports.answered import rated
from callwright.warehouse.exports.examples import MOST_TOOLS, ExampleFormat, Message, TrainingExample
from callwright.warehouse.exports.writing import Format

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


FORMAT = Format(
    name="nemo-gym",
    holds="a request and the expected action for each thing that an assistant should do: a call, several, or words",
    readers=f"NeMo Gym, by its resources server `{SERVER}`",
    begin=ExampleFormat(nemo_gym_row, most_tools=MOST_TOOLS, answered=rated).begin,
    answers="may",
    is_for_training=True,
)
