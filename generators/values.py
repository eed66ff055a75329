"""Giving each chosen parameter a value (HammerBench 4.2.1): proposed by a model, kept only where the schema agrees."""

from pydantic import BaseModel, JsonValue

from generators.schemas import argument_problems
from generators.stage_context import StageContext
from generators.tries import ATTEMPTS, PROMPTS, first_fit, made_by
from llm.prompts import render
from warehouse.records import Arguments, DraftCall, Origin, ParameterChoice, Tool

STAGE = "values"
TEMPLATE = "fill_values"


class NamedValue(BaseModel):
    """One parameter and its value."""

    parameter: str
    value: JsonValue


class ArgumentValues(BaseModel):
    """A value for each parameter asked for."""

    values: list[NamedValue]


async def fill_values(choice: ParameterChoice, context: StageContext) -> list[DraftCall]:
    """A draft call with exactly the chosen parameters, each value valid by the tool's schema.

    Raises ReplyError where three answers in a row break the schema.
    """
    assignment = choice.assignment
    tool = context.tool(assignment.tool)
    origin = Origin(stage=STAGE, parents=(choice.key,), seed=assignment.seed)
    if not choice.parameters:
        return [DraftCall(assignment=assignment, arguments={}, origin=origin)]
    prompt = render(
        PROMPTS, TEMPLATE, tool=tool, parameters=choice.parameters, language=assignment.language, seed=assignment.seed
    )
    answer = await first_fit(
        context,
        prompt,
        ArgumentValues,
        lambda given: _problem(choice.parameters, _given(given), tool),
        f"Values for {tool.name!r} did not fit in {ATTEMPTS} answers",
    )
    given = _given(answer)
    ordered = {name: given[name] for name in choice.parameters}
    origin = made_by(context, STAGE, TEMPLATE, parent=choice.key, seed=assignment.seed)
    return [DraftCall(assignment=assignment, arguments=ordered, origin=origin)]


def _given(answer: ArgumentValues) -> Arguments:
    return {pair.parameter: pair.value for pair in answer.values}


def _problem(parameters: tuple[str, ...], arguments: Arguments, tool: Tool) -> str:
    if set(arguments) != set(parameters):
        return f"values for {sorted(arguments)} were given where {sorted(parameters)} were asked for."
    blank = [name for name, value in arguments.items() if value is None or value in ("", [], {})]
    return f"the values of {blank} are empty." if blank else " ".join(argument_problems(tool, arguments, partial=True))
