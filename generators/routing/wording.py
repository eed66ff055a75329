"""Word the calls of a plan as one message, with evidence of each argument (CallNavi 4.1)."""

from collections.abc import Mapping

from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import UNKNOWN, unknown_evidence
from callwright.generators.stages import StageContext
from callwright.generators.wording import AskedCall, Speaker, WordedCalls, word_calls
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Evidence,
    GoldCall,
    Picked,
    PlannedCall,
    RoutingPlan,
    Sample,
    SampleFacts,
    StatedValue,
    Tool,
    UserTurn,
)

STAGE = "routing_requests"


async def word_routing(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """Write a sample whose request says all of the plan's values and no unknown ones.

    Raises ReplyError if three wordings in a row fail.
    """
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    worded = await word_plan(plan, tools, STAGE, context)
    return [
        Sample(
            kind=plan.kind,
            language=plan.language,
            category=plan.domain,
            candidates=plan.candidates,
            turns=(UserTurn(text=worded.text), CallTurn(calls=gold_calls(plan, tools, worded))),
            facts=SampleFacts(difficulty=traits_of(plan.kind).difficulty),
            origin=worded.origin,
        )
    ]


async def word_plan(
    plan: RoutingPlan, tools: Mapping[str, Tool], stage: str, context: StageContext
) -> WordedCalls:
    """Word the calls of a plan as one message.

    Raises RecordError for an argument that is neither said nor found by an earlier call.
    """
    calls = [_asked(call, tools[call.tool]) for call in plan.calls]
    return await word_calls(
        calls, Speaker(plan.language, plan.seed, plan.value_set), plan, stage, context
    )


def _asked(call: PlannedCall, tool: Tool) -> AskedCall:
    said = {name: one.value for name, one in call.arguments.items() if isinstance(one, StatedValue)}
    found = {name: one.call for name, one in call.arguments.items() if isinstance(one, Picked)}
    if strange := call.arguments.keys() - said.keys() - found.keys():
        kind = call.arguments[min(strange)].kind
        raise RecordError(
            f"A plan for routing holds {kind!r} for {min(strange)!r}; it can hold 'said' and"
            " 'picked'."
        )
    return AskedCall(tool, said, found)


def gold_calls(
    plan: RoutingPlan, tools: Mapping[str, Tool], worded: WordedCalls
) -> tuple[GoldCall, ...]:
    """Return the plan's calls, with evidence of stated values and of the feeds of unknown ones."""
    return tuple(
        _gold(call, tools[call.tool], said, {one.argument: one for one in evidence})
        for call, said, evidence in zip(plan.calls, worded.said, worded.evidence, strict=True)
    )


def _gold(
    call: PlannedCall, tool: Tool, said: Arguments, stated: Mapping[str, Evidence]
) -> GoldCall:
    arguments = {
        name: said.get(name, UNKNOWN)
        for name, source in call.arguments.items()
        if name in said or isinstance(source, Picked)
    }
    evidence = {
        name: unknown_evidence(name, source.call, source.field)
        for name, source in call.arguments.items()
        if isinstance(source, Picked)
    } | {**stated}
    ordered = tuple(evidence[name] for name in call.arguments if name in evidence)
    return GoldCall(tool=call.tool, arguments=arguments, evidence=ordered, constants=tool.constants)
