"""Multi-step samples as ComplexFuncBench records: a request, steps of calls with what they returned, an answer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from pydantic import JsonValue

from warehouse.errors import RecordError
from warehouse.exports.describing import Fields, stated_id, tool_document
from warehouse.records import CallTurn, ReplyTurn, ResultTurn, Sample, Tool, UserTurn

FILE = "ComplexFuncBench.jsonl"


def export_complexfuncbench(samples: Iterable[Sample], tools: Mapping[str, Tool]) -> Iterator[Fields]:
    """Each sample as a record, in order; those that bring no id are numbered by domain, around the ids that are brought.

    Raises RecordError at a sample that the format can't hold.
    """
    kept = list(samples)
    taken = {stated for sample in kept if (stated := _stated_id(sample)) is not None}
    counted: Counter[str] = Counter()
    for sample in kept:
        identity = _stated_id(sample)
        while identity is None:
            domain = _domain(sample)
            numbered = f"{domain}-{counted[domain]}"
            counted[domain] += 1
            identity = None if numbered in taken else numbered
        yield complexfuncbench_record(sample, tools, identity)


def complexfuncbench_record(sample: Sample, tools: Mapping[str, Tool], identity: str) -> Fields:
    """One sample as a record. Raises RecordError: calls that were not made, and external messages, have no place there.

    Evidence, what tools return and which tools were taken away are not kept.
    """
    _look_for_losses(sample)
    missing = next((key for key in sample.candidates if key not in tools), None)
    if missing is not None:
        raise RecordError(
            f"The sample {sample.key} has the candidate {missing!r}, but no tool with this key was given."
        )
    functions: list[JsonValue] = [tool_document(tools[key]) for key in sample.candidates]
    return {"id": identity, "functions": functions, "conversations": list(_messages(sample))}


def _look_for_losses(sample: Sample) -> None:
    turns = sample.turns
    if not turns or not isinstance(turns[0], UserTurn) or not any(isinstance(turn, ResultTurn) for turn in turns):
        raise RecordError(
            f"The sample {sample.key} of the kind {sample.kind!r} is no path of calls that were made;"
            " ComplexFuncBench records hold nothing else. Export a release of multi-step samples."
        )
    for index, (turn, following) in enumerate(pairwise((*turns, None))):
        match turn:
            case CallTurn(calls=calls) if not (
                isinstance(following, ResultTurn) and len(following.results) == len(calls)
            ):
                raise RecordError(
                    f"Turn {index} of the sample {sample.key} makes {len(calls)} calls without a result for each;"
                    " ComplexFuncBench records need one."
                )
            case UserTurn(external=message) if message is not None:
                raise RecordError(
                    f"Turn {index} of the sample {sample.key} leans on an external message;"
                    " ComplexFuncBench records have no place for one."
                )


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
