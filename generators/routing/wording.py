"""Wording a plan as one question, with evidence for each argument of each call (CallNavi 4.1)."""

import re
from collections.abc import Mapping

from pydantic import BaseModel, JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import UNKNOWN, Feed, unknown_evidence
from callwright.generators.stages import ATTEMPTS, Leniency, StageContext, first_fit, made_by
from callwright.generators.stated_values import Expected, Spot, Stated, ask_for_quotes, find_values, value_evidence
from callwright.generators.tools import outlined_tools
from callwright.language.packs import writes
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (  # fmt: skip
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    Origin,
    Picked,
    PlannedCall,
    RoutingPlan,
    Sample,
    StatedValue,
    Tool,
    UserTurn,
    trait_tag,
)

PROMPTS = "callwright.generators.routing.prompts"
STAGE = "routing_requests"
TEMPLATE = "word_routing"
LONGEST = 2500
_CODE = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b\w+_\w+\b")


class RoutingWording(BaseModel):
    """A question in the person's voice."""

    request: str


async def word_routing(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """A sample whose request says every value of the plan and gives no unknown one away; asked anew until one does.

    Raises ReplyError where three wordings in a row break this.
    """
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    used = outlined_tools((tools[call.tool], call.arguments) for call in plan.calls)
    picked = (one for call in plan.calls for one in call.arguments.values() if isinstance(one, Picked))
    asked_for = {plan.calls[one.call].tool for one in picked}
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[one | ({"returns": tools[one["name"]].returns} if one["name"] in asked_for else {}) for one in used],
        calls=[call.model_dump(mode="json", include={"tool", "arguments"}) for call in plan.calls],
        language=plan.language,
        seed=plan.seed,
    )
    quotes: dict[Spot, str] = {}
    wording = await first_fit(
        context,
        prompt,
        RoutingWording,
        lambda wording: routing_problem(wording.request.strip(), plan, tools, quotes),
        f"The question for {plan.domain!r} broke its rules in {ATTEMPTS} wordings",
        leniency=Leniency(
            look_closer=lambda wording: ask_for_quotes(context, wording.request.strip(), _expected(plan, tools), quotes)
        ),
    )
    origin = made_by(context, STAGE, prompt, parent=plan.key, seed=plan.seed)
    return [_sample(wording.request.strip(), plan, tools, quotes, origin)]


def routing_problem(request: str, plan: RoutingPlan, tools: dict[str, Tool], quotes: Mapping[Spot, str]) -> str:
    """Why this request can't stand for the plan, "" where it can: all is stated that must be, and nothing unknown is.

    `quotes` are the words that a model found in it to state values which no reader finds.
    """
    if not request or len(request) > LONGEST:
        return f"the request has {len(request)} characters; 1 to {LONGEST} are allowed."
    if not writes(plan.language, request):
        return f"the request is not in the language {plan.language!r}."
    found = find_values(_expected(plan, tools), quotes, request, plan.language).values()
    problem = next((one.problem for one in found if one.problem), "")
    if problem:
        return problem
    named = next((name for name in (*tools, UNKNOWN) if name in request and not name.islower()), None)
    named = named or next((name for name in _CODE.findall(request) if name in _code_names(tools)), None)
    if named:
        return f"it says a name as code has it: {named}."
    return _given_away(request, plan, tools)


def _code_names(tools: Mapping[str, Tool]) -> set[str]:
    """The names that only code has: an iPhone is none."""
    return {*tools, *(name for tool in tools.values() for name in tool.properties)}


def _given_away(request: str, plan: RoutingPlan, tools: dict[str, Tool]) -> str:
    stated = {
        str(source.value)
        for call in plan.calls
        for source in call.arguments.values()
        if isinstance(source, StatedValue)
    }
    for call in plan.calls:
        for name, source in call.arguments.items():
            given = _written_like(tools[call.tool].properties[name], request) - stated
            if isinstance(source, Picked) and given:
                return f"it gives {name!r} of {call.tool} away: {min(given)!r}."
    return ""


def _written_like(schema: JsonSchema, request: str) -> set[str]:
    """The words of a request that have the form of a parameter's values."""
    pattern = str(schema.get("pattern", "")).removeprefix("^").removesuffix("$")
    return {found.group() for found in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", request)} if pattern else set()


def _expected(plan: RoutingPlan, tools: dict[str, Tool]) -> Expected:
    """What the request states of the plan, by the number of the call and its parameter."""
    return {
        (number, name): (source.value, tools[call.tool].properties[name])
        for number, call in enumerate(plan.calls)
        for name, source in call.arguments.items()
        if isinstance(source, StatedValue)
    }


def _sample(
    request: str, plan: RoutingPlan, tools: dict[str, Tool], quotes: Mapping[Spot, str], origin: Origin
) -> Sample:
    stated = find_values(_expected(plan, tools), quotes, request, plan.language)
    calls = tuple(_gold(number, call, tools[call.tool], stated, request) for number, call in enumerate(plan.calls))
    return Sample(
        kind=plan.kind,
        language=plan.language,
        category=plan.domain,
        candidates=plan.candidates,
        turns=(UserTurn(text=request), CallTurn(calls=calls)),
        tags=(trait_tag("difficulty", traits_of(plan.kind).difficulty),),
        origin=origin,
    )


def _gold(number: int, call: PlannedCall, tool: Tool, stated: Mapping[Spot, Stated], request: str) -> GoldCall:
    arguments: dict[str, JsonValue] = {}
    evidence: list[Evidence] = []
    for name, source in call.arguments.items():
        if isinstance(source, StatedValue):
            arguments[name] = source.value
            place = stated[number, name].place
            evidence += [value_evidence(name, source.value, tool.properties[name], place, request)] if place else []
        elif isinstance(source, Picked):
            arguments[name] = UNKNOWN
            evidence.append(unknown_evidence(name, Feed(source.call, source.field)))
        else:
            raise RecordError(
                f"A plan for routing holds {source.kind!r} for {name!r}; it can hold 'said' and 'picked'."
            )
    return GoldCall(tool=call.tool, arguments=arguments, evidence=tuple(evidence), constants=tool.constants)
