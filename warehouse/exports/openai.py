"""OpenAI's chat format for fine-tuning: a row for each thing that an assistant should do, which its last message is.

Messages of the assistant before the last one have the weight 0: each is taught by the row that ends with it. A row has no place
for where it came from: that stands in a second file, line by line. What the provider refuses in a file:

- a field that it does not know, in a row or in a message;
- a call that no tool message follows at once, or a tool message that follows no call;
- a message of the assistant with neither text nor calls;
- a row without a message of the assistant at its end;
- arguments that are no JSON text of an object;
- more than 128 tools, or a name that is not of at most 64 letters, digits, `_` and `-`.

A call that its tool's own schema refuses it takes, and would teach: such rows are left out.
"""

from typing import Any

from callwright.warehouse.exports.answered import right_answers, right_runs
from callwright.warehouse.exports.examples import MOST_TOOLS, ExampleFormat, Message, TrainingExample
from callwright.warehouse.exports.writing import Format


def openai_row(example: TrainingExample) -> dict[str, Any]:
    """An example as a line of a training file."""
    listed = [{"type": "function", "function": tool} for tool in example.tools]
    last = {name: value for name, value in example.last.items() if name != "reasoning_content"}
    messages = [*map(_unweighted, example.before), last]
    return {"messages": messages} | ({"tools": listed} if listed else {})


def _unweighted(message: Message) -> Message:
    return message | {"weight": 0} if message["role"] == "assistant" else message


FORMAT = Format(
    name="openai",
    holds=(
        "rows for fine-tuning, each ending with what the assistant should do: ask while a required argument is missing, call"
        " once all are known, answer after a result, or say that no tool fits; where each came from in `*.origins.jsonl`"
    ),
    readers="fine-tuning by OpenAI, Azure, Together, Fireworks, Mistral and others with their format",
    begin=ExampleFormat(
        openai_row, most_tools=MOST_TOOLS, has_origins=True, answered=right_answers, of_runs=right_runs
    ).begin,
    answers="may",
    is_for_training=True,
)
