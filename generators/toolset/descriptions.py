"""Describing a named tool by a short command (HammerBench 4.2 and D.1)."""

import re

from pydantic import BaseModel

from generators.stages import ATTEMPTS, StageContext, first_fit, made_by
from generators.toolset.sketches import in_language
from llm.prompts import render
from warehouse.records import DescribedTool, Language, NamedTool

PROMPTS = "generators.toolset.prompts"
STAGE = "tool_descriptions"
TEMPLATE = "describe_tool"
LONGEST: dict[Language, int] = {"en": 120, "zh": 50}
_SENTENCE_ENDS = re.compile(r"[.!?](?:\s|$)|[。！？]")


class ToolDescription(BaseModel):
    """What a tool does, as a short command."""

    description: str


async def describe_tools(named: NamedTool, context: StageContext) -> list[DescribedTool]:
    """The tool with its description in the plan's language; ReplyError where three answers are unusable."""
    plan = named.plan
    prompt = render(PROMPTS, TEMPLATE, named=named, plan=plan)
    answer = await first_fit(
        context,
        prompt,
        ToolDescription,
        lambda given: description_problem(given.description.strip(), plan.language),
        f"The descriptions of {named.name!r} were unusable in {ATTEMPTS} answers",
    )
    origin = made_by(context, STAGE, prompt, parent=named.key, seed=plan.seed)
    return [DescribedTool(named=named, description=answer.description.strip(), origin=origin)]


def description_problem(description: str, language: Language) -> str:
    """Why these words can't describe a tool, "" where they can: one short sentence in the language."""
    if not description or len(description) > LONGEST[language] or "\n" in description:
        return f"{len(description)} characters were given; one line of 1 to {LONGEST[language]} is allowed."
    if not in_language(description, language):
        return f"{description!r} is not in the language {language!r}."
    if len(_SENTENCE_ENDS.findall(description)) > 1:
        return f"{description!r} is more than one sentence."
    return ""
