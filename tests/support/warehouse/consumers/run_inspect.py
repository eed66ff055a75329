"""Run where inspect_ai is installed: the task of an export with a mock model, right in each even
sample and wrong in each odd one.

Arguments: the folder, the data set's name, the most samples. It prints the status and the values of
the samples in their order.
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

folder, name, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
rows = [
    json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
][:most]
USAGE = ModelUsage(
    input_tokens=1, output_tokens=1, total_tokens=2
)  # else the mock counts with a file of the network


def answers() -> Iterator[ModelOutput]:
    for number, row in enumerate(rows):
        due = json.loads(row["target"])[::-1]  # the order is free
        made = [
            ToolCall(id=f"c{at}", function=one["name"], arguments=one["arguments"])
            for at, one in enumerate(due)
        ]
        strange = [ToolCall(id="c", function="strange", arguments={})] if number % 2 else []
        message = ChatMessageAssistant(
            content="" if due else "Words.", tool_calls=[*made, *strange]
        )
        yield ModelOutput(
            model="mock", usage=USAGE, choices=[ChatCompletionChoice(message=message)]
        )


os.chdir(folder)
[log] = run_eval(
    "task.py",
    model=get_model("mockllm/model", custom_outputs=list(answers())),
    task_args={"split": name},
    limit=most,
    max_samples=1,
    display="none",
    log_level="error",
    log_dir=tempfile.mkdtemp(),
)
values = {sample.id: sample.scores["due_calls"].value for sample in log.samples or ()}
print(
    json.dumps(
        {
            "status": log.status,
            "error": str(log.error)[:500],
            "values": [values.get(row["id"]) for row in rows],
        }
    )
)
