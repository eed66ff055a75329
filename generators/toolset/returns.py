"""Choosing what a tool returns, with the operation's status where it changes something (HammerBench 4.2 and D.1)."""

import re

from pydantic import BaseModel

from generators.stages import ATTEMPTS, StageContext, first_fit
from generators.toolset.sketches import ResultSketch, object_schema, sketches_problem
from llm.prompts import render
from warehouse.records import NamedTool, ParameterisedTool, Tool

PROMPTS = "generators.toolset.prompts"
TEMPLATE = "choose_returns"
SOURCE = "generated"
MOST_RETURNS = 6
_STATUS = ("success", "status")
_CHANGING = re.compile(
    r"(?:add|create|new|save|set|change|update|edit|rename|move|delete|remove|cancel|book|reserve|order|buy|send|post"
    r"|publish|schedule|share|upload|register|enroll|subscribe|unsubscribe|block|mute|turn|lock|unlock|pay|transfer)(?=[A-Z]|$)"
)


class ToolReturns(BaseModel):
    """What a tool returns."""

    returns: list[ResultSketch]


async def choose_returns(parameterised: ParameterisedTool, context: StageContext) -> list[Tool]:
    """The finished tool, of the source "generated"; ReplyError where three answers are unusable."""
    described = parameterised.described
    named = described.named
    plan = named.plan
    prompt = render(PROMPTS, TEMPLATE, parameterised=parameterised, described=described, named=named, plan=plan)
    answer = await first_fit(
        context,
        prompt,
        ToolReturns,
        lambda given: returns_problem(given, named),
        f"The returns of {named.name!r} were unusable in {ATTEMPTS} answers",
    )
    tool = Tool(
        name=named.name,
        description=described.description,
        parameters=parameterised.parameters,
        returns=object_schema(answer.returns, [one.name for one in answer.returns]),
        category=plan.category,
        language=plan.language,
        source=SOURCE,
    )
    return [tool]


def returns_problem(answer: ToolReturns, named: NamedTool) -> str:
    """Why the tool can't return this, "" where it can; whoever changes something hears whether it went well."""
    if not 1 <= len(answer.returns) <= MOST_RETURNS:
        return f"{len(answer.returns)} values are returned; 1 to {MOST_RETURNS} are allowed."
    if changes_something(named.name) and not any(one.name in _STATUS for one in answer.returns):
        return f"{named.name!r} changes something, but returns none of {list(_STATUS)}."
    return sketches_problem(answer.returns, named.plan.language, shown=False)


def changes_something(name: str) -> bool:
    """Whether a tool of this name creates, changes or deletes something, by its verb."""
    return _CHANGING.match(name.rpartition(".")[2]) is not None
