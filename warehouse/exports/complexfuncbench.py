"""Multi-step samples as ComplexFuncBench records: a request, steps of calls with what they returned, an answer."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.writing import Fields, Format, ReleaseSplit, Write, stated_id, tool_document
from callwright.warehouse.records import CallTurn, ReplyTurn, ResultTurn, Sample, Tool, UserTurn

FILE = "ComplexFuncBench.jsonl"


def complexfuncbench_record(sample: Sample, tools: Mapping[str, Tool], identity: str) -> Fields:
    """One sample as a record. Raises RecordError: calls that were not made, and external messages, have no place there.

    Evidence, what tools return and which tools were taken away are not kept.
    """
    _require_path(sample)
    missing = next((key for key in sample.candidates if key not in tools), None)
    if missing is not None:
        raise RecordError(f"The candidate {missing!r} is no tool that was given.")
    functions: list[JsonValue] = [tool_document(tools[key]) for key in sample.candidates]
    return {"id": identity, "functions": functions, "conversations": list(_messages(sample))}


def _require_path(sample: Sample) -> None:
    turns = sample.turns
    if not turns or not isinstance(turns[0], UserTurn) or not any(isinstance(turn, ResultTurn) for turn in turns):
        raise RecordError(
            "ComplexFuncBench's records are paths of calls that were made, and this is no path of calls that were made."
        )
    for turn, following in pairwise((*turns, None)):
        match turn:
            case CallTurn(calls=calls) if not (
                isinstance(following, ResultTurn) and len(following.results) == len(calls)
            ):
                raise RecordError("ComplexFuncBench's records need a result for each call, and calls here have none.")
            case UserTurn(external=message) if message is not None:
                raise RecordError("ComplexFuncBench's records have no place for an external message.")


def _messages(sample: Sample) -> Iterator[Fields]:
    for turn in sample.turns:
        match turn:
            case UserTurn(text=text):
                yield {"role": "user", "content": text}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case CallTurn(calls=calls):
                made: list[JsonValue] = [{"name": call.tool, "arguments": call.arguments} for call in calls]
                yield {"role": "assistant", "function_call": made}
            case ResultTurn(results=results):
                yield {"role": "observation", "content": list(results)}


def _domain(sample: Sample) -> str:
    return sample.category.replace(" ", "-") or "Samples"


def _stated_id(sample: Sample) -> str | None:
    stated = stated_id(sample, "complexfuncbench_id")
    return None if stated is None else str(stated)


def _begin(part: ReleaseSplit) -> Write:
    """Each sample as a record; those that bring no id are numbered by domain."""
    taken: set[str] = set()
    counted: Counter[str] = Counter()

    def write(sample: Sample) -> int:
        _require_path(sample)
        identity, domain = _stated_id(sample), _domain(sample)
        while identity is None:
            numbered = f"{domain}-{counted[domain]}"
            counted[domain] += 1
            identity = None if numbered in taken else numbered
        part.add_line(FILE, complexfuncbench_record(sample, part.source.tools, identity) | part.mark_of_tests)
        taken.add(identity)
        return 1

    return write


FORMAT = Format(
    name="complexfuncbench",
    holds="paths of calls that were made: a request, steps of calls with what they returned, an answer",
    readers="ComplexFuncBench's evaluation, and `release import complexfuncbench`",
    begin=_begin,
    has_folders=True,
)
