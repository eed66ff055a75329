"""Run where inspect_ai is installed: the tasks of an export with a mock model, which does what is
due in each even one only.

Argument: the folder. It prints the status, and the score of each task in order.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from inspect_ai import eval as run_eval
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall

import callwright

folder = Path(sys.argv[1]) / "environment"
TASKS = callwright.load_tasks(folder)
USAGE = ModelUsage(
    input_tokens=1, output_tokens=1, total_tokens=2
)  # else the mock counts with a file of the network


def said(text: str, *calls: ToolCall) -> ModelOutput:
    message = ChatMessageAssistant(content=text, tool_calls=[*calls] or None)
    stop = "tool_calls" if calls else "stop"
    return ModelOutput(
        model="mock", usage=USAGE, choices=[ChatCompletionChoice(message=message, stop_reason=stop)]
    )


def answers() -> Iterator[ModelOutput]:
    for number, task in enumerate(TASKS):
        for at, turn in enumerate(task.solution if number % 2 == 0 else ()):
            if isinstance(turn, str):
                yield said(turn)
                continue
            call = ToolCall(id=f"c{at}", function=turn.tool, arguments=dict(turn.arguments))
            yield said("", call)
        yield said(task.reply if number % 2 == 0 else "Done.")
        if number % 2 and task.sample.policy_case and task.sample.policy_case.is_pressed:
            yield said("Done.")  # after the user has urged


os.chdir(folder)
[log] = run_eval(
    "task.py",
    model=get_model("mockllm/model", custom_outputs=list(answers())),
    task_args={"split": ""},
    max_samples=1,
    display="none",
    log_level="error",
    log_dir=tempfile.mkdtemp(),
)
values = {sample.id: sample.scores["world_end"].value for sample in log.samples or ()}
tools = [len(task.tools) for task in TASKS]
print(
    json.dumps(
        {
            "status": log.status,
            "error": str(log.error)[:500],
            "values": [values.get(task.key) for task in TASKS],
            "tools": tools,
        }
    )
)
