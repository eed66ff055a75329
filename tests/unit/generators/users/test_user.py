"""The simulated user: it answers just what is asked, and says nothing that code did not decide."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from callwright.generators.environments.protocol import Environment
from callwright.generators.users.user import MOST_TURNS, OpeningWords, SimulatedUser
from callwright.llm.chat import Prompt
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language
from tests.support.generators.multi_step.workshop import open_workshop, opening_of, request_to_paint


@pytest.fixture
def workshop(tmp_path: Path) -> Environment:
    return open_workshop(tmp_path)


class Script:
    """Says what it is told to, one answer after the other."""

    name = "script"

    def __init__(self, *answers: dict[str, Any] | None, opens: bool = True) -> None:
        self.left, self.opens = list(answers), opens
        self.prompts: list[str] = []

    async def ask(self, prompt: Prompt, answer: type[BaseModel], *, sample_index: int = 0) -> Any:
        if answer is OpeningWords and self.opens:
            return OpeningWords(opening=opening_of(prompt))
        self.prompts.append(prompt.messages[-1].content)
        given = self.left.pop(0)
        if given is None:
            raise ReplyError("It gave no JSON.")
        return answer.model_validate(given)


async def begun(
    workshop: Environment, *answers: dict[str, Any] | None, language: Language = "en"
) -> SimulatedUser:
    """A user who has said its first words without what it holds back; then a model words what it
    says.
    """
    chat: Any = Script()
    user = SimulatedUser(request_to_paint(workshop, language), workshop.tools, chat)
    await user.open()
    user.wordings = 0
    user._chat = Script(*answers) if answers else None
    return user


def said(sentence: str) -> dict[str, Any]:
    return {"sentence": sentence}


def opened(words: str) -> dict[str, Any]:
    return {"opening": words}


def plainly(value: str) -> set[str]:
    """The ways in which a user tells a value in plain words."""
    return {f"It's {value}.", f"{value.capitalize()}, please."}


def held(user: SimulatedUser) -> str:
    [one] = user.held
    return one.parameter


async def test_half_of_what_it_knows_is_held_back_and_the_rest_is_said(
    workshop: Environment,
) -> None:
    user = await begun(workshop)
    kept = held(user)
    other = {"colour": "part", "part": "colour"}[kept]
    words = {"colour": "white", "part": "chain"}
    assert words[kept] not in user.opening
    assert words[other] in user.opening
    assert "ask me" not in user.opening


async def test_what_is_asked_for_is_told_and_nothing_else(workshop: Environment) -> None:
    user = await begun(workshop)
    value = {"colour": "white", "part": "chain"}[kept := held(user)]
    assert await user.hear(f"Which {kept} should it be?") in plainly(value)
    assert not user.held


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("I would set the colour to white. Is that right?", "Yes, please."),
        ("Shall I set the colour to red?", "No. It's white."),
        ("Shall I set the colour to white and the part to brakes?", "No. It's chain."),
    ],
)
async def test_a_confirmation_is_a_yes_or_a_no_by_the_goal(
    workshop: Environment, question: str, answer: str
) -> None:
    heard = await (await begun(workshop)).hear(question)
    value = answer.rpartition(" ")[2].rstrip(".")
    assert heard in {answer, *(f"No. {one}" for one in plainly(value))}


async def test_what_leads_elsewhere_is_led_back_once(workshop: Environment) -> None:
    user = await begun(
        workshop, {"wants": ["aside"]}, said("Please go by what I asked for."), {"wants": ["aside"]}
    )
    assert await user.hear("Do you like cycling?") == "Please go by what I asked for."
    assert await user.hear("Do you really like cycling?") is None


async def test_a_question_that_names_nothing_is_read_by_choice_among_what_is_known(
    workshop: Environment,
) -> None:
    user = await begun(workshop, {"wants": ["open"]}, None, None)
    kept = held(user)
    assert await user.hear("What else do I need?") in plainly(
        "white" if kept == "colour" else "chain"
    )
    script = user._chat
    assert isinstance(script, Script)
    assert '"value": "chain"' in script.prompts[0].replace('":"', '": "')


@pytest.mark.parametrize(
    "wrong",
    [
        "I want {other}.",
        "{right}, and 7 of them.",
        "I can't say.",
        "The colour is white and the part is chain.",
        "",
    ],
)
async def test_a_wording_that_says_anything_else_is_refused_and_said_plainly(
    workshop: Environment, wrong: str
) -> None:
    user = await begun(workshop)
    kept = held(user)
    right, other = {"colour": ("white", "red"), "part": ("chain", "brakes")}[kept]
    stated = wrong.format(right=right, other=other)
    user._chat = Script(said(stated), said(stated))
    assert await user.hear(f"Which {kept}?") in plainly(right)
    assert (user.wordings, user.refused) == (2, 2)


async def test_a_wording_that_says_just_what_is_due_is_said(workshop: Environment) -> None:
    user = await begun(workshop)
    kept = held(user)
    right = {"colour": "white", "part": "chain"}[kept]
    user._chat = Script(said("It's a secret."), said(f"Make that {right}, thanks!"))
    assert await user.hear(f"Which {kept}?") == f"Make that {right}, thanks!"
    assert (user.wordings, user.refused) == (2, 1)


async def test_an_opening_that_gives_away_what_is_held_back_is_refused_and_all_is_said(
    workshop: Environment,
) -> None:
    whole = request_to_paint(workshop).request
    user = SimulatedUser(
        request_to_paint(workshop),
        workshop.tools,
        Script(opened(whole), opened(whole), opens=False),
    )
    assert await user.open() == whole
    assert (user.refused, user.held) == (2, [])


async def test_somebody_who_asks_on_and_on_is_left(workshop: Environment) -> None:
    user = await begun(workshop)
    answers = [await user.hear("Which colour?") for _ in range(MOST_TURNS + 1)]
    assert all(answers[:MOST_TURNS])
    assert answers[MOST_TURNS] is None


@pytest.mark.parametrize(("language", "told"), [("es", "White, por favor."), ("zh", "是white。")])
async def test_it_speaks_the_languages_that_there_are(
    workshop: Environment, language: Language, told: str
) -> None:
    user = await begun(workshop, language=language)
    answers: Sequence[str | None] = [
        await user.hear("¿colour?" if language == "es" else "colour？")
    ]
    assert told in str(answers[0])
