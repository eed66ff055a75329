"""Items of a Langfuse dataset: each line is the body of a request to its API for dataset items."""

from typing import Any

from callwright.warehouse.exports.examples import ExampleFormat, TrainingExample
from callwright.warehouse.exports.writing import Format, ReleaseSplit, Write


def langfuse_row(example: TrainingExample, name: str) -> dict[str, Any]:
    """An example as an item of the dataset `name`; the same item again takes the place of the one before."""
    tools = [{"type": "function", "function": tool} for tool in example.tools]
    return {
        "datasetName": name,
        "id": f"{example.sample.key}-{example.turn}",
        "input": {"messages": list(example.before), "tools": tools},
        "expectedOutput": example.last,
        "metadata": example.origin,
    }


def _begin(part: ReleaseSplit) -> Write:
    name = "/".join(filter(None, (part.source.release.name, part.split)))
    return ExampleFormat(lambda example: langfuse_row(example, name)).begin(part)


FORMAT = Format(
    name="langfuse",
    holds="items of a dataset: the conversation so far with its tools, and what is expected",
    readers="Langfuse: each line is the body of a request to `POST /api/public/dataset-items`",
    begin=_begin,
)
