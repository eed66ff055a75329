"""Wording several calls as one message, with evidence for each argument in the stretch that is about its call."""

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from generators.stages import ATTEMPTS, StageContext, first_fit, made_by
from language.readers.moments import HALF_DAY
from language.text import VERBATIM
from language.values import locate
from llm.prompts import render
from warehouse.errors import RecordError
from warehouse.records import (
    Arguments,
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    RoutingPlan,
    Sample,
    StatedValue,
    Tool,
    UserTurn,
)

PROMPTS = "generators.parallel.prompts"
STAGE = "parallel_requests"
TEMPLATE = "write_parallel"
LONGEST = 2500


class ParallelWording(BaseModel):
    """A message in the person's voice, and the stretch of it that is about each call, in the order of the calls."""

    request: str
    parts: list[str]


async def write_parallel(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """A sample whose request states every value of every call, each in its own stretch; asked anew until one does.

    Raises ReplyError where three wordings in a row do not.
    """
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    used = [tools[name] for name in dict.fromkeys(call.tool for call in plan.calls)]
    due = [(tools[call.tool], _arguments(plan, at)) for at, call in enumerate(plan.calls)]
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[{"name": one.name, "description": one.description, "parameters": one.parameters} for one in used],
        calls=[{"tool": tool.name, "arguments": arguments} for tool, arguments in due],
        language=plan.language,
        seed=plan.seed,
    )
    wording = await first_fit(
        context,
        prompt,
        ParallelWording,
        lambda wording: wording_problem(wording, due),
        f"The request for {len(due)} calls broke its rules in {ATTEMPTS} wordings",
    )
    starts = part_starts(wording)
    calls = [
        _gold(tool, arguments, part, start)
        for (tool, arguments), part, start in zip(due, wording.parts, starts, strict=True)
    ]
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


def wording_problem(wording: ParallelWording, due: Sequence[tuple[Tool, Arguments]]) -> str:
    """Why this wording can't stand for the calls, "" where it can: each has a stretch of its own that states its values."""
    if not wording.request.strip() or len(wording.request) > LONGEST:
        return f"the request has {len(wording.request)} characters; 1 to {LONGEST} are allowed."
    if len(wording.parts) != len(due):
        return f"it has {len(wording.parts)} parts for {len(due)} calls."
    if -1 in part_starts(wording):
        return "the parts do not stand in the request one after the other."
    for (tool, arguments), part in zip(due, wording.parts, strict=True):
        for name, value in arguments.items():
            found = locate(value, tool.properties[name], part)
            if found is None or found.rule == HALF_DAY:
                return f"the part {part!r} does not state {value!r} for {name!r} of {tool.name}."
    return ""


def part_starts(wording: ParallelWording) -> list[int]:
    """Where each part begins in the request, -1 from the first on that does not stand behind those before it."""
    starts: list[int] = []
    end = 0
    for part in wording.parts:
        start = wording.request.find(part, end) if part.strip() and -1 not in starts else -1
        starts.append(start)
        end = start + len(part)
    return starts


def _arguments(plan: RoutingPlan, at: int) -> Arguments:
    sources = plan.calls[at].arguments
    values = {name: source.value for name, source in sources.items() if isinstance(source, StatedValue)}
    if len(values) < len(sources):
        raise RecordError("A call that is due beside others can take nothing from their results.")
    return values


def _gold(tool: Tool, arguments: Arguments, part: str, start: int) -> GoldCall:
    evidence = tuple(_span(name, value, tool.properties[name], part, start) for name, value in arguments.items())
    return GoldCall(tool=tool.name, arguments=arguments, evidence=evidence, constants=tool.constants)


def _span(name: str, value: JsonValue, schema: JsonSchema, part: str, start: int) -> Evidence:
    found = locate(value, schema, part)
    if found is None:
        raise RecordError(f"The request does not state {value!r} for {name!r}.")
    return Evidence(
        argument=name,
        kind="span" if found.rule == VERBATIM else "normalised",
        turn=0,
        start=start + found.start,
        end=start + found.end,
        quote=part[found.start : found.end],
        rule=found.rule,
    )
