"""Trajectories in ATIF, Harbor's format of what agents do: a file a sample, with its gold."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import orjson

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.examples import TOGETHER, Message, one_by_one, openai_messages
from callwright.warehouse.exports.writing import Format, ReleaseSplit, Write, wire_document
from callwright.warehouse.records import CallTurn, Sample
from callwright.warehouse.releases import ReleaseStream
from callwright.warehouse.wire_names import WireNames, wire_names

ATIF_VERSION = "ATIF-v1.7"
_SOURCES = {"system": "system", "user": "user", "assistant": "agent"}


def atif_document(
    sample: Sample, source: ReleaseStream, names: WireNames | None = None
) -> dict[str, Any]:
    """Return a sample as a trajectory: what is said, called, returned, and due at the end.

    A call's result stands in the observation of its step, as text. Raises RecordError if one call
    at a time is asked for and several are due at the end.
    """
    turns = sample.turns
    if source.one_call_at_a_time:
        turns = tuple(turn for _, turn in one_by_one(turns))
    # what is due at the end is called, although nobody has answered it
    last = turns[-1]
    if isinstance(last, CallTurn) and not last.executed:
        turns = (*turns[:-1], last.with_changes(executed=True))
    tools = [source.tools[key] for key in sample.candidates]
    names = wire_names(source.tools.values()) if names is None else names
    steps = _steps(openai_messages(sample.briefing, turns, names))
    if source.one_call_at_a_time and any(len(one.get("tool_calls", ())) > 1 for one in steps):
        raise RecordError(TOGETHER)
    listed = [{"type": "function", "function": wire_document(tool, names)} for tool in tools]
    agent = {"name": "callwright", "version": version("callwright"), "tool_definitions": listed}
    about = {name: getattr(sample, name) for name in ("kind", "language", "category")}
    return {
        "schema_version": ATIF_VERSION,
        "trajectory_id": sample.key,
        "agent": agent,
        "steps": steps,
        "extra": about,
    }


def _steps(messages: Iterable[Message]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            told = {"source_call_id": message["tool_call_id"], "content": message["content"]}
            steps[-1].setdefault("observation", {"results": []})["results"].append(told)
            continue
        step = {
            "step_id": len(steps) + 1,
            "source": _SOURCES[message["role"]],
            "message": message.get("content", ""),
        }
        if calls := message.get("tool_calls"):
            step["tool_calls"] = [
                {
                    "tool_call_id": call["id"],
                    "function_name": call["function"]["name"],
                    "arguments": orjson.loads(call["function"]["arguments"]),
                }
                for call in calls
            ]
        steps.append(step)
    return steps


def _begin(part: ReleaseSplit) -> Write:
    names = part.named()

    def write(sample: Sample) -> int:
        document = atif_document(sample, part.source, names)
        document["extra"] |= part.mark_of_tests
        part.add_document(f"{part.stem}/{sample.key}.json", document)
        return 1

    return write


FORMAT = Format(
    name="atif",
    holds="a trajectory in ATIF 1.7 for each sample, a file each: what its gold says and calls",
    readers="Harbor, and what else reads ATIF",
    begin=_begin,
    is_for_training=True,
    is_chat=True,
)
