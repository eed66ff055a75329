"""Requests for goals: all is said that must be said, and nothing is given away."""

import re
from typing import Any

import pytest

from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.multi_step.making import CROSS, plan_goals
from callwright.generators.multi_step.resolving import leaves_of
from callwright.generators.multi_step.wording import (
    GoalWording,
    named_values,
    parameter_schema,
    stated_values,
    word_goals,
)
from callwright.language.values import locate
from callwright.llm.chat import Answer, Prompt
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Goal, StatedValue
from tests.support.generators.multi_step.asking import ErringTemplateChat, context_of
from tests.support.generators.multi_step.small_world import SmallWorld
from tests.support.sampling import sampled

DOMAINS = ("Hotels", "Flights", "Car Rental", "Attraction", CROSS)


class RememberingChat(ErringTemplateChat):
    """The template model; it keeps its replies."""

    def __init__(self) -> None:
        super().__init__()
        self.replies: list[Any] = []

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        reply = await super().ask(prompt, answer, sample_index=sample_index)
        self.replies.append(reply)
        return reply


async def first_goal() -> Goal:
    (goal,) = [goal async for goal in plan_goals("Inns", "en", 1, SmallWorld(), seed=1)]
    return goal


@pytest.mark.parametrize("domain", sampled(DOMAINS, ("Car Rental", CROSS)))
async def test_a_request_says_every_value_and_every_name_but_no_identifier(domain: str):
    world = open_travel()
    element = vocabulary_of(world).element
    tools = {tool.name: tool for tool in world.tools}
    async for goal in plan_goals(domain, "en", 5, world, seed=2):
        (worded,) = await word_goals(goal, context_of(world, seed=goal.seed))
        for tool, parameter, value in stated_values(goal):
            assert locate(value, parameter_schema(tools[tool], parameter), worded.request)
        for name in named_values(goal):
            assert str(name) in worded.request
        for index, call in enumerate(goal.calls):
            for leaf in leaves_of(index, call.arguments):
                if isinstance(leaf.source, StatedValue):
                    name = re.sub(r"\[\d+\]", "[]", leaf.argument)
                    assert element(call.tool, name) not in {"identifier", "filter"}
        assert worded.origin is not None
        assert worded.origin.parents == (goal.key,)


async def test_the_name_of_a_field_that_is_asked_for_gives_nothing_away():
    world = open_travel(seed=3, response_size="short")
    goals = [goal async for goal in plan_goals("Hotels", "en", 2, world, seed=5)]
    for goal in goals:  # one sorts by "distance" and asks for the distance
        assert await word_goals(goal, context_of(world, seed=goal.seed))


async def test_a_request_holds_no_identifier_and_no_tool():
    world = open_travel()
    async for goal in plan_goals("Hotels", "en", 6, world, seed=3):
        (worded,) = await word_goals(goal, context_of(world, seed=goal.seed))
        assert "_" not in worded.request
        assert "{" not in worded.request


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda request, goal: "Tell me about inns.", "Missing: "),
        (lambda request, goal: request + " Search_Inns please.", "names the tool"),
        (lambda request, goal: request + " 谢谢", "in English"),
        (lambda request, goal: "", "0 characters"),
        (
            lambda request, goal: (
                request + " It is t-ash-0 t-bri-1 t-cor-2 t-dun-3 t-els-4 t-far-5."
            ),
            "gives away",
        ),
    ],
)
async def test_a_request_that_breaks_its_rules_three_times_is_refused(spoil, reason: str):
    goal = await first_goal()
    asked = RememberingChat()
    await word_goals(goal, context_of(SmallWorld(), asked))
    wrong = GoalWording(request=spoil(asked.replies[-1].request, goal))
    chat = ScriptedModel({"word_goal": [wrong] * 3})
    with pytest.raises(ReplyError, match=reason):
        await word_goals(goal, context_of(SmallWorld(), chat))
    assert chat.left == {}


async def test_the_prompt_holds_no_value_that_only_a_response_tells():
    goal = await first_goal()
    chat = ScriptedModel({"word_goal": [GoalWording(request="No.")] * 3})
    with pytest.raises(ReplyError):
        await word_goals(goal, context_of(SmallWorld(), chat))
    assert "i-t-" not in "".join(message.content for message in chat.asked[0].messages)
    assert ErringTemplateChat().name
