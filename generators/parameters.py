"""Choosing the parameters that an everyday user would give (HammerBench 4.2.1 and appendix D.3)."""

from pydantic import BaseModel

from generators.stage_context import StageContext
from llm.prompts import prompt_version, render
from warehouse.errors import RecordError, ReplyError
from warehouse.records import Assignment, Origin, ParameterChoice, Tool

STAGE = "parameters"
TEMPLATE = "choose_parameters"
PROMPTS = "generators.prompts"
ATTEMPTS = 3


class ParameterNames(BaseModel):
    """The parameters chosen, by name."""

    parameters: list[str]


async def choose_parameters(assignment: Assignment, context: StageContext) -> list[ParameterChoice]:
    """Choose `parameter_count` parameters; a perfect request gets all required ones, an imperfect one never does.

    Raises ReplyError where the model names others than were offered, in three answers, and RecordError where an
    imperfect request is planned for a tool that requires nothing.
    """
    tool = context.tool(assignment.tool)
    fixed = () if assignment.kind == "imperfect" else tool.required
    offered = tuple(name for name in tool.properties if name not in fixed)
    wanted = max(0, assignment.parameter_count - len(fixed))
    if wanted == 0 or wanted >= len(offered):
        chosen, model = offered[:wanted], ""
    else:
        chosen, model = await _ask(assignment, tool, offered, wanted, context), context.chat.name
    if assignment.kind == "imperfect" and set(tool.required) <= set(chosen):
        chosen = _without_one_required(chosen, tool)
    names = set(fixed) | set(chosen)
    origin = Origin(
        stage=STAGE,
        parents=(assignment.key,),
        seed=assignment.seed,
        model=model,
        prompt_version=prompt_version(PROMPTS, TEMPLATE) if model else "",
    )
    ordered = tuple(name for name in tool.properties if name in names)
    return [ParameterChoice(assignment=assignment, parameters=ordered, origin=origin)]


async def _ask(
    assignment: Assignment, tool: Tool, offered: tuple[str, ...], wanted: int, context: StageContext
) -> tuple[str, ...]:
    prompt = render(PROMPTS, TEMPLATE, tool=tool, offered=offered, count=wanted, seed=assignment.seed)
    problem = ""
    for attempt in range(ATTEMPTS):
        answer = await context.chat.ask(prompt, ParameterNames, sample_index=attempt)
        unknown = [name for name in answer.parameters if name not in offered]
        if not unknown and len(set(answer.parameters)) == wanted:
            return tuple(answer.parameters)
        problem = f"names {unknown} were not offered" if unknown else f"{len(set(answer.parameters))} names were given"
    raise ReplyError(f"{wanted} parameters of {tool.name!r} were asked for, but in {ATTEMPTS} answers {problem}.")


def _without_one_required(chosen: tuple[str, ...], tool: Tool) -> tuple[str, ...]:
    """Drop the last required parameter, so that the request really is imperfect."""
    if not tool.required:
        raise RecordError(
            f"The tool {tool.name!r} requires no parameter, so that no imperfect request can be made of it; plan another "
            "kind, or take it out of the tools."
        )
    dropped = [name for name in chosen if name in tool.required][-1]
    return tuple(name for name in chosen if name != dropped)
