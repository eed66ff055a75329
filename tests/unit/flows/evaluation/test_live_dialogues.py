"""Live dialogues: the user holds the slots of a dialogue, and the last call decides."""

from random import Random
from typing import Any

import pytest

from callwright.flows.evaluation.paths import PathRun, run_path
from callwright.generators.stages import StageContext
from callwright.generators.users.user import OpeningWords
from callwright.llm.chat import Prompt
from callwright.llm.function_model import FunctionModel
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    MultiStepRun,
    ReplyTurn,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.generators.multi_step.workshop import shown

TOOL = Tool(
    name="book_table",
    description="Book a table.",
    category="Food",
    parameters={
        "type": "object",
        "required": ["restaurant", "guests"],
        "properties": {
            "restaurant": {"type": "string", "description": "The restaurant"},
            "guests": {"type": "integer", "description": "How many guests come"},
        },
    },
)
REQUEST, ANSWER = "Book me a table at Golden Fork.", "We are 4."
RESTAURANT = Evidence(argument="restaurant", kind="span", turn=0, start=19, end=30)
GUESTS = Evidence(argument="guests", kind="span", turn=3, start=7, end=8)
SAMPLE = Sample(
    kind="sQsA",
    language="en",
    category="Food",
    candidates=(TOOL.key,),
    turns=(
        UserTurn(text=REQUEST),
        CallTurn(
            calls=(
                GoldCall(
                    tool=TOOL.name, arguments={"restaurant": "Golden Fork"}, evidence=(RESTAURANT,)
                ),
            )
        ),
        ReplyTurn(text="How many guests?"),
        UserTurn(text=ANSWER),
        CallTurn(
            calls=(
                GoldCall(
                    tool=TOOL.name,
                    arguments={"restaurant": "Golden Fork", "guests": 4},
                    evidence=(RESTAURANT, GUESTS),
                ),
            )
        ),
    ),
)


PLAINLY = ({"It's Golden Fork.", "Golden Fork, please."}, {"It's 4.", "4, please."})


class Waiter:
    """Asks these questions one after the other, then books what it has heard, or else what it
    guesses.
    """

    name = "waiter"

    def __init__(self, *questions: str) -> None:
        self.questions = list(questions)

    async def ask(self, prompt: Prompt, answer: type[Any], *, sample_index: int = 0) -> Any:
        text = prompt.messages[-1].content
        if self.questions:
            return answer(answer=self.questions.pop(0))
        if '"success":true' in text:
            return answer(answer="The table is booked.")
        arguments = {
            "restaurant": "Golden Fork" if "Golden Fork" in text else "",
            "guests": 4 if " 4." in text or "4, please" in text else 2,
        }
        return answer(calls=[{"name": TOOL.name, "arguments": arguments}])


class Guest:
    """Says first that a table is wanted, then what is due."""

    name = "guest"

    async def ask(self, prompt: Prompt, answer: type[Any], *, sample_index: int = 0) -> Any:
        if answer is OpeningWords:
            return answer(opening="Book me a table.")
        return answer(sentence=shown(prompt, "plain"))


async def talk(*questions: str) -> MultiStepRun:
    run = PathRun("slots", "waiter", user="x")
    context = StageContext(Waiter(*questions), Random(1), {TOOL.key: TOOL})
    [kept] = [
        one
        for one in await run_path(SAMPLE, context, run=run, user_chat=Guest())
        if isinstance(one, MultiStepRun)
    ]
    return kept


async def test_who_asks_for_what_is_lacking_makes_the_call() -> None:
    kept = await talk("Which restaurant is it?", "How many guests come?")
    first, second = (one.told for one in kept.messages[:2])
    assert (first in PLAINLY[0], second in PLAINLY[1]) == (True, True)
    assert (kept.success, kept.correct_calls, kept.total_calls, kept.user_errors) == (True, 1, 1, 0)
    assert "Golden Fork" not in kept.opening


@pytest.mark.parametrize("asked", [(), ("Which restaurant is it?",)])
async def test_who_guesses_a_slot_does_not(asked: tuple[str, ...]) -> None:
    kept = await talk(*asked)
    assert (kept.success, kept.correct_calls) == (False, 0)


async def test_a_function_is_given_what_was_said_as_messages() -> None:
    seen: list[list[dict[str, Any]]] = []

    def waiter(messages: list[dict[str, Any]], _tools: object) -> Any:
        seen.append(messages)
        questions = ["Which restaurant is it?", "How many guests come?"]
        asked = sum(one["role"] == "assistant" for one in messages)
        if asked < len(questions):
            return questions[asked]
        made = any(one.get("tool_calls") for one in messages)
        return (
            "The table is booked."
            if made
            else [(TOOL.name, {"restaurant": "Golden Fork", "guests": 4})]
        )

    chat = FunctionModel("python/waiter", waiter, lambda _call: None, "run_path")
    run = PathRun("slots", "waiter", "messages", user="x")
    context = StageContext(chat, Random(1), {TOOL.key: TOOL})
    records = await run_path(SAMPLE, context, run=run, user_chat=Guest())
    [kept] = [one for one in records if isinstance(one, MultiStepRun)]
    assert (kept.success, kept.user_turns, kept.strategy) == (True, 2, "messages/live(x)")
    spoken = [(one["role"], one["content"]) for one in seen[2][1:]]
    assert spoken[1::2] == [
        ("assistant", "Which restaurant is it?"),
        ("assistant", "How many guests come?"),
    ]
    assert [
        (role, said in plain) for (role, said), plain in zip(spoken[2::2], PLAINLY, strict=True)
    ] == [("user", True), ("user", True)]
