"""Live tasks: what is kept has the calls of its task, ends as it should, and each value was said
or answered before.
"""

from typing import Any

import pytest
from pydantic import BaseModel

from callwright.flows.evaluation.paths import PathRun, run_path
from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.answers import AnswerWording
from callwright.generators.stages import StageContext
from callwright.generators.users.making import hold_conversations, obstacle
from callwright.generators.users.user import OpeningWords, UserSentence
from callwright.llm.chat import Prompt
from callwright.validators.checks.episodes import check_end_state
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.validators.checks.path import check_path
from callwright.validators.checks.wording import check_user
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallPlace,
    CallTurn,
    Derivation,
    MultiStepRun,
    Sample,
    SampleFacts,
    UserTurn,
)
from tests.support.generators.multi_step.workshop import (
    context_of,
    open_workshop,
    opening_of,
    request_to_paint,
    shown,
    task,
)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return open_workshop(tmp_path_factory.mktemp("workshop"))


SAID = {"colour of the frame": "white", "part": "chain"}


class Talker:
    """Words what the user says plainly, or as `words` has it; as the assistant it asks, then
    makes the source's calls.
    """

    name = "talker"

    def __init__(
        self, source: Sample, *, words: str = "", spoil: Any = None, asks: bool = True
    ) -> None:
        self.steps = [turn.calls for turn in source.turns if isinstance(turn, CallTurn)]
        self.words, self.spoil, self.asks, self.tries = words, spoil, asks, set[int]()

    async def ask(self, prompt: Prompt, answer: type[BaseModel], *, sample_index: int = 0) -> Any:
        if answer is UserSentence:
            return answer.model_validate({"sentence": self.words or shown(prompt, "plain")})
        if answer is OpeningWords:
            return answer.model_validate({"opening": opening_of(prompt)})
        if answer is AnswerWording:
            return answer.model_validate({"answer": shown(prompt, "plain")})
        self.tries.add(sample_index)
        history, request = shown(prompt, "history"), shown(prompt, "request")
        lacking = next((name for name, one in SAID.items() if one not in request), "")
        if lacking and self.asks and not any("user" in one for one in history):
            return answer.model_validate({"answer": f"What is the {lacking}?"})
        made = sum("calls" in one for one in history)
        step = (
            [{"name": call.tool, "arguments": call.arguments} for call in self.steps[made]]
            if self.steps[made:]
            else []
        )
        step = self.spoil(made, step) if self.spoil else step
        return answer.model_validate({"calls": step, "answer": "" if step else "All is done."})


def source_of(workshop: Environment) -> Sample:
    """The task to paint a bicycle, as a goal would be kept."""
    return request_to_paint(workshop).with_changes(
        facts=SampleFacts(
            environment="workshop", simulation=0, wanted=(CallPlace(1, 0), CallPlace(1, 1))
        ),
        candidates=tuple(one.key for one in workshop.tools),
    )


async def talk(workshop: Environment, chat: Talker) -> Sample:
    derivation = Derivation(transform="live_task", source=source_of(workshop), seed=1)
    [sample] = await hold_conversations(derivation, context_of(workshop, chat))  # type: ignore[arg-type] # a script
    return sample


async def decisions(sample: Sample, workshop: Environment) -> dict[str, str]:
    context: StageContext = context_of(workshop, Talker(sample))  # type: ignore[arg-type]
    checks = (check_format, check_grounding, check_path, check_end_state, check_user)
    return {one.name: (await one(sample, context))[0].decision for one in checks}


async def test_what_came_about_is_a_conversation_that_every_check_proves(
    workshop: Environment,
) -> None:
    sample = await talk(workshop, Talker(source_of(workshop)))
    assert [turn.kind for turn in sample.turns] == [
        "user",
        "reply",
        "user",
        "calls",
        "result",
        "calls",
        "result",
        "reply",
    ]
    assert (sample.kind, sample.facts.wanted, sample.facts.user) == (
        "live_task",
        ((1, 0), (1, 1)),
        (2, 0),
    )
    said = [
        evidence.turn
        for call in sample.gold
        for evidence in call.evidence
        if evidence.kind in ("span", "normalised")
    ]
    assert sorted(said) == [0, 2]
    assert set((await decisions(sample, workshop)).values()) == {"proved"}


async def test_words_that_do_not_say_what_is_due_are_the_users_error(workshop: Environment) -> None:
    sample = await talk(workshop, Talker(source_of(workshop)))
    first, asked, _, *rest = sample.turns
    spoilt = sample.with_changes(turns=(first, asked, UserTurn(text="Any will do."), *rest))
    [verdict, *_] = await check_user(spoilt, context_of(workshop, Talker(sample)))  # type: ignore[arg-type]
    assert (verdict.decision, verdict.score, [one.kind for one in verdict.doubts]) == (
        "unproved",
        0,
        ["user_amiss"],
    )


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda made, step: [], "call of list_bicycles with {} was not made"),
        (lambda made, step: step[:1], "create_repair .* was not made"),
        (
            lambda made, step: (
                step if made else [*step, {"name": "list_bicycles", "arguments": {"colour": "red"}}]
            ),
            "does not need it",
        ),
        (
            lambda made, step: [{"name": "get_bicycle", "arguments": {"bicycle_id": "x"}}],
            "was refused",
        ),
        (lambda made, step: step + step[:1] if not made else step, "made twice"),
    ],
)
async def test_who_does_something_else_is_not_kept(
    workshop: Environment, spoil: Any, reason: str
) -> None:
    chat = Talker(source_of(workshop), spoil=spoil)
    with pytest.raises(RecordError, match=f"None of 3 conversations .* {reason}"):
        await talk(workshop, chat)
    assert chat.tries == {0, 1, 2}


async def test_who_guesses_what_nobody_has_said_is_not_kept(workshop: Environment) -> None:
    with pytest.raises(RecordError, match="The assistant asked for nothing"):
        await talk(workshop, Talker(source_of(workshop), asks=False))


def test_a_task_whose_user_says_nothing_that_could_be_asked_for_is_passed_over(
    workshop: Environment,
) -> None:
    tools = {tool.key: tool for tool in workshop.tools}
    assert obstacle(source_of(workshop), tools) == ""
    assert "could be asked for" in obstacle(
        task(workshop, [("list_bicycles", {})]).with_changes(changes=source_of(workshop).changes),
        tools,
    )


async def test_candidates_are_answered_by_its_user_without_being_live(
    workshop: Environment,
) -> None:
    sample = await talk(workshop, Talker(source_of(workshop)))
    context = context_of(workshop, Talker(sample))  # type: ignore[arg-type]
    [kept, *_] = await run_path(sample, context, run=PathRun("live", "talker"))
    assert isinstance(kept, MultiStepRun)
    assert (kept.success, kept.user_turns, kept.opening) == (True, 1, sample.request)
