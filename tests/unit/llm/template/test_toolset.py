"""The template model's tools: for each category as many as are wanted, valid by their schemas,
in both languages.
"""

import re
from random import Random

import pytest

from callwright.generators.stages import StageContext
from callwright.generators.toolset.sketches import category_named, load_categories, plan_toolset
from callwright.generators.toolset.steps import (
    ToolNames,
    choose_returns,
    choose_tool_parameters,
    describe_tools,
    name_tools,
)
from callwright.llm.chat import Answer, ChatRequest, Completion, Prompt
from callwright.llm.prompts import render
from callwright.llm.template.model import TemplateModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language, Tool, ToolsetPlan

LANGUAGES: tuple[Language, ...] = ("en", "zh")
OF_THE_PAPER = 1063


class ToolsetTemplateChat:
    """The template model without a ledger around it."""

    name = "template/v1"

    def __init__(self) -> None:
        self.model = TemplateModel(seed=0)
        self.schemas: dict[type, dict[str, object]] = {}

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        schema = self.schemas.setdefault(answer, answer.model_json_schema())
        request = ChatRequest("template/v1", prompt.messages, schema, (), (), sample_index)
        return answer.model_validate_json((await self.model.send(request)).text)

    async def complete(
        self, prompt: Prompt, tools: object = (), *, sample_index: int = 0
    ) -> Completion:
        raise AssertionError(f"nobody asks for free text here: {prompt.name}")


@pytest.fixture(scope="module")
def context() -> StageContext:
    return StageContext(ToolsetTemplateChat(), Random(0), {})


async def tools_of(plan: ToolsetPlan, context: StageContext) -> list[Tool]:
    tools = []
    for named in await name_tools(plan, context):
        (described,) = await describe_tools(named, context)
        (parameterised,) = await choose_tool_parameters(described, context)
        tools += await choose_returns(parameterised, context)
    return tools


@pytest.mark.parametrize("language", LANGUAGES)
async def test_there_are_names_for_more_tools_than_the_paper_has(
    language: Language, context: StageContext
) -> None:
    each = OF_THE_PAPER // len(load_categories()) + 1
    named = [
        await name_tools(plan_toolset(one, language, each, seed=3), context)
        for one in load_categories()
    ]
    names = [tool.name for tools in named for tool in tools]
    goals = [tool.goal for tools in named for tool in tools]
    assert len(names) == len(set(names)) >= OF_THE_PAPER
    assert len(set(goals)) == len(goals)


async def test_the_same_goal_has_the_same_name_and_parameters_in_both_languages(
    context: StageContext,
) -> None:
    english, chinese = [
        await tools_of(plan_toolset(category_named("Flights"), language, 24, seed=3), context)
        for language in LANGUAGES
    ]
    told = {tool.name: (list(tool.properties), tool.required) for tool in english}
    also = {tool.name: (list(tool.properties), tool.required) for tool in chinese}
    assert {name: told[name] for name in set(told) & set(also)} == {
        name: also[name] for name in set(told) & set(also)
    }
    assert len(set(told) & set(also)) >= 20


async def test_few_tools_are_a_selection_of_the_goals_that_the_seed_decides(
    context: StageContext,
) -> None:
    clock = category_named("Clock")
    one, again, other = [
        [tool.goal for tool in await name_tools(plan_toolset(clock, "en", 5, seed=seed), context)]
        for seed in (1, 1, 2)
    ]
    goals = list(clock.goals)
    assert one == again != other
    assert set(one) <= set(goals)
    assert one == sorted(one, key=goals.index)


async def test_more_tools_than_there_are_reasons_for_are_not_made_up(context: StageContext) -> None:
    with pytest.raises(
        ReplyError,
        match=r"tool names for 'Clock' were unusable .* tools were named where 90 were asked",
    ):
        await name_tools(plan_toolset(category_named("Clock"), "en", 90, seed=1), context)


@pytest.mark.parametrize(
    ("section", "broken", "problem"),
    [
        ("count", "many", "could not read the section <count>"),
        ("count", '"3"', "a number in <count>"),
        ("goals", '{"a": 1}', "a JSON list in the section <goals>"),
    ],
)
async def test_a_prompt_that_shows_something_else_is_refused(
    section: str, broken: str, problem: str, context: StageContext
) -> None:
    prompt = render(
        "callwright.generators.toolset.prompts",
        "name_tools",
        plan=plan_toolset(category_named("Clock"), "en", 3, seed=1),
    )
    system, user = prompt.messages
    spoilt = re.sub(rf"<{section}>.*</{section}>", f"<{section}>{broken}</{section}>", user.content)
    prompt = prompt.with_changes(messages=(system, user.with_changes(content=spoilt)))
    with pytest.raises(ReplyError, match=problem):
        await context.chat.ask(prompt, ToolNames)
