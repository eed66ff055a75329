"""A small world of functions with a path of three steps, and ways to drive a run over it."""

from collections.abc import Mapping, Sequence
from typing import Any

from callwright.validators.metrics.complexeval.calls import CandidateCall
from callwright.validators.metrics.complexeval.rules import RunRules
from callwright.validators.metrics.complexeval.runs import (
    MatchedCall,
    Matchers,
    RunOutcome,
    SampleRun,
)
from callwright.warehouse.records import Call, EvalMode, Exchange, Tool

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def tool(name: str, required: Sequence[str] = (), **properties: Any) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name=name, description=name, parameters=parameters, category="Hotels")


TOOLS = (
    tool("Search_Hotel_Destination", ["query"], query=TEXT),
    tool("Taxi_Search_Location", ["query"], query=TEXT),
    tool("Location_to_Lat_Long", ["query"], query=TEXT),
    tool("Get_Filter", ["dest_id"], dest_id=TEXT, adults={"type": "integer", "default": 1}),
    tool(
        "Search_Hotels",
        ["dest_id"],
        dest_id=TEXT,
        search_type=TEXT,
        categories_filter=TEXT,
        adults=NUMBER,
        refundable={"type": "boolean"},
    ),
    tool("Get_Reviews", ["hotel_id"], hotel_id=TEXT, sort_by=TEXT),
)


def call(name: str, **arguments: Any) -> Call:
    return Call(tool=name, arguments=arguments)


def step(*calls: Call, responses: Sequence[Any] = ()) -> Exchange:
    return Exchange(
        calls=calls, responses=tuple(responses) or tuple(f"about {one.tool}" for one in calls)
    )


DESTINATION = call("Search_Hotel_Destination", query="New York")
FILTER = call("Get_Filter", dest_id="7")
HOTELS = call("Search_Hotels", dest_id="7", categories_filter="facility::1,facility::2", adults=2)
REVIEWS = call("Get_Reviews", hotel_id="h1")
CHAIN = (step(DESTINATION), step(FILTER), step(HOTELS, REVIEWS))


def likeness(texts: Sequence[str], others: Sequence[str]) -> list[list[float]]:
    """The share of the letter pairs that two texts have in common."""
    pairs = [
        [{text[at : at + 2] for at in range(len(text) - 1)} for text in side]
        for side in (texts, others)
    ]
    return [[len(one & other) / max(1, len(one | other)) for other in pairs[1]] for one in pairs[0]]


def matchers(
    responses: Mapping[str, Any] | None = None, alike: Sequence[tuple[Call, Call]] = ()
) -> Matchers:
    """Responses by the JSON text of a call, and the pairs that the judge finds alike."""

    async def respond(made: Call) -> Any:
        return (responses or {}).get(made.key)

    async def judge(made: Call, golden: Call) -> bool:
        return any(one.key == made.key and other.key == golden.key for one, other in alike)

    return Matchers(likeness, respond, judge)


def open_run(
    mode: EvalMode, chain: Sequence[Exchange] = CHAIN, using: Matchers | None = None, **rules: Any
) -> SampleRun:
    return SampleRun(chain, TOOLS, mode, using or matchers(), RunRules(**rules))


def made(*calls: Call) -> list[CandidateCall]:
    return [CandidateCall(one.tool, one.arguments) for one in calls]


async def drive(
    run: SampleRun, *script: Sequence[Call] | str | None
) -> tuple[RunOutcome, list[tuple[MatchedCall, ...]]]:
    """Play a script, whose texts are last words, until the run has ended."""
    judged = []
    for said in script:
        if run.outcome is not None:
            break
        if said is None or isinstance(said, str):
            await run.finish(said)
        else:
            judged.append(await run.take(made(*said)))
    assert run.outcome is not None, "the script is too short"
    return run.outcome, judged


def altered(one: Call, **arguments: Any) -> Call:
    return call(one.tool, **{**one.arguments, **arguments})


def without(one: Call, *names: str) -> Call:
    return call(
        one.tool, **{name: value for name, value in one.arguments.items() if name not in names}
    )
