"""Wording several calls as one message, with evidence for each argument in the stretch that is about its call."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from callwright.generators.stages import ATTEMPTS, Leniency, StageContext, first_fit, made_by
from callwright.generators.stated_values import (
    Expected,
    Place,
    Spot,
    Stated,
    ask_for_quotes,
    find_quote,
    find_values,
    value_evidence,
)
from callwright.generators.tools import outlined_tools
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    GoldCall,
    Language,
    RoutingPlan,
    Sample,
    StatedValue,
    Tool,
    UserTurn,
)

PROMPTS = "callwright.generators.parallel.prompts"
STAGE = "parallel_requests"
TEMPLATE = "write_parallel"
LONGEST = 2500


class ParallelWording(BaseModel):
    """A message in the person's voice, and the stretch of it that is about each call, in the order of the calls."""

    request: str
    parts: list[str]


Due = Sequence[tuple[Tool, Arguments]]


async def write_parallel(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """A sample whose request states every value of every call; asked anew where it leaves one out or says another one.

    Raises ReplyError where three wordings in a row do.
    """
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    due = [(tools[call.tool], _arguments(plan, at)) for at, call in enumerate(plan.calls)]
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=outlined_tools(due),
        calls=[{"tool": tool.name, "arguments": arguments} for tool, arguments in due],
        language=plan.language,
        seed=plan.seed,
    )
    quotes: dict[Spot, str] = {}
    wording = await first_fit(
        context,
        prompt,
        ParallelWording,
        lambda wording: wording_problem(wording, due, plan.language, quotes),
        f"The request for {len(due)} calls broke its rules in {ATTEMPTS} wordings",
        leniency=Leniency(look_closer=lambda wording: ask_for_quotes(context, wording.request, _expected(due), quotes)),
    )
    stated = stated_values(wording, due, plan.language, quotes)
    calls = [_gold(number, tool, arguments, stated, wording.request) for number, (tool, arguments) in enumerate(due)]
    return [
        Sample(
            kind=plan.kind,
            language=plan.language,
            category=plan.domain,
            candidates=plan.candidates,
            turns=(UserTurn(text=wording.request), CallTurn(calls=tuple(calls))),
            origin=made_by(context, STAGE, prompt, parent=plan.key, seed=plan.seed),
        )
    ]


def wording_problem(wording: ParallelWording, due: Due, language: Language, quotes: Mapping[Spot, str]) -> str:
    """Why this wording can't stand for the calls, "" where it can: no value is left out, and no other one said for it."""
    if not wording.request.strip() or len(wording.request) > LONGEST:
        return f"the request has {len(wording.request)} characters; 1 to {LONGEST} are allowed."
    return next((one.problem for one in stated_values(wording, due, language, quotes).values() if one.problem), "")


def stated_values(
    wording: ParallelWording, due: Due, language: Language, quotes: Mapping[Spot, str]
) -> dict[Spot, Stated]:
    """Where the request states each value: in the stretch that is about its call, where the stretches can be told apart."""
    stretches = call_stretches(wording, len(due))
    found: dict[Spot, Stated] = {}
    for number, (start, end) in enumerate(stretches):
        expected = {spot: one for spot, one in _expected(due).items() if spot[0] == number}
        own = {spot: words for spot, words in quotes.items() if spot[0] == number}
        for spot, stated in find_values(expected, own, wording.request[start:end], language).items():
            place = stated.place and Place(stated.place.start + start, stated.place.end + start)
            found[spot] = Stated(place, stated.problem)
    return found


def _expected(due: Due) -> Expected:
    """What the request states, by the number of the call and its parameter."""
    return {
        (number, name): (value, tool.properties[name])
        for number, (tool, arguments) in enumerate(due)
        for name, value in arguments.items()
    }


def call_stretches(wording: ParallelWording, calls: int) -> list[Place]:
    """The stretch of the request that is about each call, up to where the next one begins; all of it where parts don't tell."""
    starts: list[int] = []
    end = 0
    for part in wording.parts:
        found = find_quote(part, wording.request[end:])
        if found is not None:
            starts.append(found.start + end)
            end += found.end
    whole = Place(0, len(wording.request))
    if len(starts) != calls:
        return [whole] * calls
    return [Place(start, stop) for start, stop in zip([0, *starts[1:]], [*starts[1:], whole.end], strict=True)]


def _arguments(plan: RoutingPlan, at: int) -> Arguments:
    sources = plan.calls[at].arguments
    values = {name: source.value for name, source in sources.items() if isinstance(source, StatedValue)}
    if len(values) < len(sources):
        raise RecordError("A call that is due beside others can take nothing from their results.")
    return values


def _gold(number: int, tool: Tool, arguments: Arguments, stated: Mapping[Spot, Stated], request: str) -> GoldCall:
    evidence = [
        value_evidence(name, value, tool.properties[name], place, request)
        for name, value in arguments.items()
        if (place := stated[number, name].place) is not None
    ]
    return GoldCall(tool=tool.name, arguments=arguments, evidence=tuple(evidence), constants=tool.constants)
