"""What the cases of ComplexFuncBench's evaluator bring: stubs of embedding, live API and judge,
functions and calls.
"""

import json
import math
from collections.abc import Mapping, Sequence
from hashlib import md5
from itertools import pairwise
from typing import Any, NamedTuple

from callwright.validators.metrics.complexeval.calls import GoldenCall, sorted_call
from callwright.validators.metrics.complexeval.runs import Matchers
from callwright.warehouse.records import Call, Exchange, Tool
from tests.conformance.comparing import Case

BUCKETS = 512
NOT_EQUAL = '{"is_equal": false, "reason": "not in the stub"}'


FENCES = (
    "```JSON\n",
    "```json\n",
    "\n```",
)  # taken off as sets of characters, which may take more than the fence


def decode_json(text: str) -> Any:
    """The JSON of a judge's reply without its fence; None where there is none."""
    for fence in FENCES:
        text = text.strip(fence)
    try:
        return json.loads(text.replace("\n", "").replace("False", "false").replace("True", "true"))
    except (ValueError, RecursionError):
        return None


class Stubs(NamedTuple):
    """What stands in for the live API and the judge: by the JSON text of calls."""

    responses: Mapping[str, Any]
    replies: Mapping[str, str]

    async def respond(self, call: Call) -> Any:
        """The response in the stub, or None."""
        return self.responses.get(canonical(call))

    async def judge(self, made: Call, golden: Call) -> bool:
        """What the judge's reply in the stub says."""
        reply = decode_json(
            self.replies.get(f"{canonical(made)} || {canonical(golden)}", NOT_EQUAL)
        )
        return isinstance(reply, dict) and reply.get("is_equal") is True


def likeness(texts: Sequence[str], others: Sequence[str]) -> list[list[float]]:
    """The stub's embedding: trigrams of letters in buckets, normalised; how alike is the dot
    product.
    """
    left, right = ([_trigrams(text.lower()) for text in several] for several in (texts, others))
    return [
        [math.fsum(a * b for a, b in zip(one, other, strict=True)) for other in right]
        for one in left
    ]


def _trigrams(text: str) -> list[float]:
    vector = [0.0] * BUCKETS
    for start in range(max(1, len(text) - 2)):
        digest = md5(text[start : start + 3].encode(), usedforsecurity=False).hexdigest()
        vector[int(digest, 16) % BUCKETS] += 1
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else vector


def golden_of(inputs: Case) -> list[GoldenCall]:
    """The gold calls of a turn with their responses."""
    calls = [sorted_call(call_of(one)) for one in inputs["golden"]]
    return [
        GoldenCall(call, inputs["golden_obs"][place], 0, place) for place, call in enumerate(calls)
    ]


def chain_of(conversation: Sequence[Any]) -> tuple[Exchange, ...]:
    """The gold path of a conversation."""
    return tuple(
        Exchange(calls=tuple(map(call_of, said["function_call"])), responses=tuple(told["content"]))
        for said, told in pairwise(conversation)
        if said.get("function_call") is not None
    )


def matchers_of(inputs: Case) -> Matchers:
    """The stubs of a case, as what mapping and matching ask."""
    stubs = Stubs(inputs["api_response_stub"] or {}, inputs["llm_judge_stub"] or {})
    return Matchers(likeness, stubs.respond, stubs.judge)


def tool_of(function: Mapping[str, Any]) -> Tool:
    stated = {name: function[name] for name in ("name", "description", "parameters")}
    return Tool(**stated, category="")


def call_of(stated: Mapping[str, Any]) -> Call:
    if stated["name"] == "":  # no call of ours has no name; a format check must say so
        return Call.model_construct(tool="", arguments=stated["arguments"])
    return Call(tool=stated["name"], arguments=stated["arguments"])


def canonical(call: Call) -> str:
    """The text that the stubs know a call by."""
    return json.dumps(shown(call), sort_keys=True, ensure_ascii=False)


def shown(call: Call | None) -> dict[str, Any]:
    """A call as the file has it."""
    assert call is not None
    return {"name": call.tool, "arguments": call.arguments}
