"""The records themselves: one JSON line a sample with all that a check of it needs.

A line is {"sample", "tools", "responses"}: the sample and its tools as the warehouse keeps them, and what each executed call
returned, one {"call", "response"} for each. `callwright check records` reads these lines.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from warehouse.records import CallTurn, ResultTurn, Sample
from warehouse.releases import ReleaseContent


def record_lines(content: ReleaseContent) -> Iterator[dict[str, Any]]:
    """Each sample with its tools, those withheld included, and the responses to its executed calls."""
    for sample in content.samples:
        keys = dict.fromkeys((*sample.candidates, *sample.withheld))
        yield {
            "sample": sample.model_dump(mode="json"),
            "tools": [content.tools[key].model_dump(mode="json") for key in keys if key in content.tools],
            "responses": list(_responses(sample)),
        }


def _responses(sample: Sample) -> Iterator[dict[str, Any]]:
    for turn, following in pairwise(sample.turns):
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn):
            for call, result in zip(turn.calls, following.results, strict=False):
                yield {"call": {"tool": call.tool, "arguments": call.arguments}, "response": result}
