"""Wording a plan as one question, with evidence for each argument of each call (CallNavi 4.1)."""

import re
from collections.abc import Iterator

from pydantic import BaseModel, JsonValue

from generators.kinds import traits_of
from generators.routing.tool_graph import UNKNOWN, Feed, unknown_evidence
from generators.stages import ATTEMPTS, StageContext, first_fit, made_by
from language.packs import writes
from language.readers.moments import HALF_DAY
from language.text import VERBATIM
from language.values import locate
from llm.prompts import render
from warehouse.errors import RecordError
from warehouse.records import (  # fmt: skip
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

PROMPTS = "generators.routing.prompts"
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
    used = [tools[name] for name in dict.fromkeys(call.tool for call in plan.calls)]
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[{**one.signature, "returns": one.returns} for one in used],
        calls=[call.model_dump(mode="json", include={"tool", "arguments"}) for call in plan.calls],
        language=plan.language,
        seed=plan.seed,
    )
    wording = await first_fit(
        context,
        prompt,
        RoutingWording,
        lambda wording: routing_problem(wording.request.strip(), plan, tools),
        f"The question for {plan.domain!r} broke its rules in {ATTEMPTS} wordings",
    )
    origin = made_by(context, STAGE, prompt, parent=plan.key, seed=plan.seed)
    return [_sample(wording.request.strip(), plan, tools, origin)]


def routing_problem(request: str, plan: RoutingPlan, tools: dict[str, Tool]) -> str:
    """Why this request can't stand for the plan, "" where it can: all is stated that must be, and nothing unknown is."""
    if not request or len(request) > LONGEST:
        return f"the request has {len(request)} characters; 1 to {LONGEST} are allowed."
    if not writes(plan.language, request):
        return f"the request is not in the language {plan.language!r}."
    for tool, parameter, value in _stated_values(plan):
        found = locate(value, tools[tool].properties[parameter], request)
        if found is None or found.rule == HALF_DAY:
            return f"it does not say {value!r} for {parameter!r} of {tool}."
    named = next((name for name in (*tools, UNKNOWN) if name in request and not name.islower()), None)
    if named or _CODE.search(request):
        return f"it says a name as code has it: {named or _CODE.search(request)}."
    return _given_away(request, plan, tools)


def _given_away(request: str, plan: RoutingPlan, tools: dict[str, Tool]) -> str:
    stated = {str(value) for _, _, value in _stated_values(plan)}
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


def _stated_values(plan: RoutingPlan) -> Iterator[tuple[str, str, JsonValue]]:
    for call in plan.calls:
        for name, source in call.arguments.items():
            if isinstance(source, StatedValue):
                yield call.tool, name, source.value


def _sample(request: str, plan: RoutingPlan, tools: dict[str, Tool], origin: Origin) -> Sample:
    calls = tuple(_gold(call, tools[call.tool], request) for call in plan.calls)
    return Sample(
        kind=plan.kind,
        language=plan.language,
        category=plan.domain,
        candidates=plan.candidates,
        turns=(UserTurn(text=request), CallTurn(calls=calls)),
        tags=(trait_tag("difficulty", traits_of(plan.kind).difficulty),),
        origin=origin,
    )


def _gold(call: PlannedCall, tool: Tool, request: str) -> GoldCall:
    arguments: dict[str, JsonValue] = {}
    evidence: list[Evidence] = []
    for name, source in call.arguments.items():
        if isinstance(source, StatedValue):
            arguments[name] = source.value
            evidence.append(_span(name, source.value, tool.properties[name], request))
        elif isinstance(source, Picked):
            arguments[name] = UNKNOWN
            evidence.append(unknown_evidence(name, Feed(source.call, source.field)))
        else:
            raise RecordError(
                f"A plan for routing holds {source.kind!r} for {name!r}; it can hold 'said' and 'picked'."
            )
    return GoldCall(tool=call.tool, arguments=arguments, evidence=tuple(evidence), constants=tool.constants)


def _span(name: str, value: JsonValue, schema: JsonSchema, request: str) -> Evidence:
    found = locate(value, schema, request)
    if found is None:
        raise RecordError(f"The request does not say {value!r} for {name!r}.")
    return Evidence(
        argument=name,
        kind="span" if found.rule == VERBATIM else "normalised",
        turn=0,
        start=found.start,
        end=found.end,
        quote=request[found.start : found.end],
        rule=found.rule,
    )
