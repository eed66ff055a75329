"""Giving each chosen parameter a value (HammerBench 4.2.1): proposed by a model, kept only where the schema agrees."""

from pydantic import BaseModel, JsonValue

from generators.desk import Desk
from generators.schemas import argument_problems
from llm.prompts import prompt_version, render
from warehouse.errors import ReplyError
from warehouse.records import Arguments, DraftCall, Origin, ParameterChoice

STAGE = "values"
TEMPLATE = "fill_values"
PROMPTS = "generators.prompts"
ATTEMPTS = 3


class NamedValue(BaseModel):
    """One parameter and its value."""

    parameter: str
    value: JsonValue


class ArgumentValues(BaseModel):
    """A value for each parameter asked for."""

    values: list[NamedValue]


async def fill_values(choice: ParameterChoice, desk: Desk) -> list[DraftCall]:
    """A draft call with exactly the chosen parameters, each value valid by the tool's schema.

    Raises ReplyError where three answers in a row break the schema.
    """
    assignment = choice.assignment
    tool = desk.tool(assignment.tool)
    origin = Origin(stage=STAGE, parents=(choice.key,), seed=assignment.seed)
    if not choice.parameters:
        return [DraftCall(assignment=assignment, arguments={}, origin=origin)]
    prompt = render(
        PROMPTS, TEMPLATE, tool=tool, parameters=choice.parameters, language=assignment.language, seed=assignment.seed
    )
    problem = ""
    for attempt in range(ATTEMPTS):
        answer = await desk.chat.ask(prompt, ArgumentValues, sample_index=attempt)
        arguments: Arguments = {pair.parameter: pair.value for pair in answer.values}
        problem = _problem(choice.parameters, arguments) or " ".join(argument_problems(tool, arguments, partial=True))
        if not problem:
            origin = origin.with_changes(model=desk.chat.name, prompt_version=prompt_version(PROMPTS, TEMPLATE))
            ordered = {name: arguments[name] for name in choice.parameters}
            return [DraftCall(assignment=assignment, arguments=ordered, origin=origin)]
    raise ReplyError(f"Values for {tool.name!r} did not fit in {ATTEMPTS} answers: {problem}")


def _problem(parameters: tuple[str, ...], arguments: Arguments) -> str:
    if set(arguments) != set(parameters):
        return f"values for {sorted(arguments)} were given where {sorted(parameters)} were asked for."
    blank = [name for name, value in arguments.items() if value is None or value in ("", [], {})]
    return f"the values of {blank} are empty." if blank else ""
