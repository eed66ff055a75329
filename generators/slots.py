"""Which values a request still lacks, in which order they are asked for, and what they will be (HammerBench 4.2.1)."""

from collections.abc import Mapping
from random import Random

from pydantic import JsonValue

from generators.schemas import argument_problems
from generators.stage_context import StageContext
from generators.tries import ATTEMPTS, PROMPTS, first_fit, made_by
from generators.values import ArgumentValues
from language.text import fold
from language.values import locate
from llm.prompts import render
from warehouse.errors import RecordError
from warehouse.records import Arguments, CallTurn, Derivation, Sample, Slot, SlotPlan, Tool, UserTurn

STAGE = "slots"
TEMPLATE = "fill_slots"
_IN_ORDER = 0.6  # of the dialogues ask in the order in which the tool declares its parameters
_EMPTY: tuple[JsonValue, ...] = (None, "", [], {})


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Why no questions and answers can go on from this sample, "" where they can."""
    match sample.turns:
        case (UserTurn(), CallTurn(calls=(_,), executed=False)):
            pass
        case (UserTurn(), CallTurn(calls=calls, executed=False)):
            return f"{len(calls)} calls are due after the request; questions go on from exactly one."
        case turns:
            return f"The sample has {len(turns)} turns; questions go on from a request with one call that is due."
    tool = _gold_tool(sample, tools)
    if tool is None:
        return f"The tool {sample.gold[0].tool!r} is not among the candidates, so what it requires is not known."
    if not missing_slots(sample, tool):
        return f"The request gives every parameter that {tool.name!r} requires, so there is nothing to ask for."
    return ""


def known_arguments(sample: Sample) -> Arguments:
    """The arguments that the sample's last call has; empty values, as imported labels have them, are none."""
    return {name: value for name, value in sample.gold[0].arguments.items() if value not in _EMPTY}


def missing_slots(sample: Sample, tool: Tool) -> tuple[str, ...]:
    """The parameters that the tool requires and the sample's call lacks."""
    known = known_arguments(sample)
    return tuple(name for name in tool.properties if name in tool.required and name not in known)


def gold_tool(sample: Sample, tools: Mapping[str, Tool]) -> Tool:
    """The tool that the sample's last call is of; RecordError where it is not among the candidates."""
    tool = _gold_tool(sample, tools)
    if tool is None:
        raise RecordError(f"The tool {sample.gold[0].tool!r} is not among the candidates of the sample {sample.key!r}.")
    return tool


async def plan_slots(derivation: Derivation, context: StageContext) -> list[SlotPlan]:
    """The parameters to ask for, in an order that the seed gives, each with a value that can't be taken for another.

    Raises RecordError where nothing is missing, and ReplyError where three answers in a row do not fit.
    """
    source = derivation.source
    reason = obstacle(source, context.tools)
    if reason:
        raise RecordError(f"No dialogue can be made of the sample {source.key!r}: {reason}")
    tool, known = gold_tool(source, context.tools), known_arguments(source)
    missing = missing_slots(source, tool)
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tool=tool,
        request=source.request,
        known=known,
        parameters=missing,
        language=source.language,
        seed=derivation.seed,
    )
    answer = await first_fit(
        context,
        prompt,
        ArgumentValues,
        lambda given: _problem(_given(given), missing, source, tool),
        f"Values to be asked for by {tool.name!r} did not fit in {ATTEMPTS} answers",
    )
    given = _given(answer)
    order = _in_order(missing, Random(derivation.seed))
    origin = made_by(context, STAGE, TEMPLATE, parent=derivation.key, seed=derivation.seed)
    slots = tuple(Slot(parameter=name, value=given[name]) for name in order)
    return [SlotPlan(derivation=derivation, slots=slots, origin=origin)]


def _given(answer: ArgumentValues) -> Arguments:
    return {pair.parameter: pair.value for pair in answer.values}


def _gold_tool(sample: Sample, tools: Mapping[str, Tool]) -> Tool | None:
    named = (tools[key] for key in sample.candidates if key in tools)
    return next((tool for tool in named if tool.name == sample.gold[0].tool), None)


def _in_order(missing: tuple[str, ...], rng: Random) -> list[str]:
    if rng.random() < _IN_ORDER:
        return list(missing)
    return rng.sample(missing, len(missing))


def _problem(given: Arguments, missing: tuple[str, ...], source: Sample, tool: Tool) -> str:
    """Why these values can't be what the user will answer, "" where they can."""
    if set(given) != set(missing):
        return f"values for {sorted(given)} were given where {sorted(missing)} were asked for."
    blank = [name for name, value in given.items() if value in _EMPTY]
    if blank:
        return f"the values of {blank} are empty."
    misfits = argument_problems(tool, given, partial=True)
    if misfits:
        return " ".join(misfits)
    known = known_arguments(source)
    for name in missing:
        twin = _twin(name, {**known, **given})
        if twin:
            return f"the value {given[name]!r} of {name!r} could be taken for that of {twin!r}."
        value = given[name]
        if not isinstance(value, bool) and locate(value, tool.properties[name], source.request) is not None:
            return f"the request says {value!r} already, so that nobody would ask for {name!r}."
    return ""


def _twin(name: str, values: Arguments) -> str:
    """Another argument whose value says the same or a part of it, "" where there is none; a yes or no has no twin."""
    value = values[name]
    if isinstance(value, bool):
        return ""
    said = fold(str(value))
    for other, taken in values.items():
        if other == name or isinstance(taken, bool):
            continue
        heard = fold(str(taken))
        both_text = isinstance(value, str) and isinstance(taken, str)
        if heard == said or (both_text and (said in heard or heard in said)):
            return other
    return ""
