"""Naming the tools of a category, one for each thing that people want done there (HammerBench 4.2 and D.1)."""

import re

from pydantic import BaseModel

from generators.stages import ATTEMPTS, StageContext, first_fit, made_by
from generators.toolset.sketches import in_language
from llm.prompts import render
from warehouse.records import NamedTool, ToolsetPlan

PROMPTS = "generators.toolset.prompts"
STAGE = "tool_names"
TEMPLATE = "name_tools"
LONGEST_NAME = 100
LONGEST_GOAL = 120
_NAME = re.compile(r"([A-Z][A-Za-z]*)\.[A-Z][A-Za-z]{1,40}\.[a-z][A-Za-z]{1,60}")


class NamedGoal(BaseModel):
    """A tool's name and the goal that it serves."""

    name: str
    goal: str


class ToolNames(BaseModel):
    """The tools of a category, by name."""

    tools: list[NamedGoal]


async def name_tools(plan: ToolsetPlan, context: StageContext) -> list[NamedTool]:
    """`plan.count` tool names, each with the goal that it serves; ReplyError where three answers are unusable."""
    prompt = render(PROMPTS, TEMPLATE, plan=plan)
    answer = await first_fit(
        context,
        prompt,
        ToolNames,
        lambda given: names_problem(given, plan),
        f"The tool names for {plan.category!r} were unusable in {ATTEMPTS} answers",
    )
    origin = made_by(context, STAGE, prompt, parent=plan.key, seed=plan.seed)
    return [NamedTool(plan=plan, name=one.name, goal=one.goal.strip(), origin=origin) for one in answer.tools]


def names_problem(answer: ToolNames, plan: ToolsetPlan) -> str:
    """Why these names can't be used, "" where they can: as many as planned, well formed, no two alike."""
    if len(answer.tools) != plan.count:
        return f"{len(answer.tools)} tools were named where {plan.count} were asked for."
    functions: set[str] = set()
    goals: set[str] = set()
    for one in answer.tools:
        problem = _name_problem(one.name, plan.category) or _goal_problem(one, plan)
        if problem:
            return problem
        function, goal = one.name.rpartition(".")[2].casefold(), one.goal.strip().casefold()
        if function in functions or goal in goals:
            return f"the tool {one.name!r} for {one.goal.strip()!r} has the name or the goal of another."
        functions.add(function)
        goals.add(goal)
    return ""


def _name_problem(name: str, category: str) -> str:
    match = _NAME.fullmatch(name) if len(name) <= LONGEST_NAME else None
    if match is None or match[1] != category:
        return f"the name {name[:LONGEST_NAME]!r} is not of the form '{category}.SubArea.functionName'."
    return ""


def _goal_problem(one: NamedGoal, plan: ToolsetPlan) -> str:
    goal = one.goal.strip()
    if not goal or len(goal) > LONGEST_GOAL or "\n" in goal:
        return f"the goal of {one.name!r} has not 1 to {LONGEST_GOAL} characters on one line."
    if not in_language(goal, plan.language):
        return f"the goal of {one.name!r}, {goal!r}, is not in the language {plan.language!r}."
    return ""
