"""Candidates in a task's world: how it ends decides, whichever calls lead there."""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.evaluation.paths import PathRun, run_path
from callwright.generators.environments.episodes import world_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.users.user import OpeningWords
from callwright.llm.chat import Prompt
from callwright.warehouse.records import AskedField, MultiStepRun, ReplyTurn, Sample
from tests.support.flows.inn_world import Err, Guide, gold_steps
from tests.support.generators.multi_step.workshop import (
    bicycles,
    context_of,
    open_workshop,
    opening_of,
    painting,
    request_to_paint,
    shown,
    task,
    telling,
)

BOTH = pytest.mark.parametrize(
    "run",
    [PathRun("tasks", "guide"), PathRun("tasks", "guide", mode="as_published_code")],
    ids=["paper", "code"],
)
RUN = PathRun("tasks", "guide")
Calls = list[dict[str, Any]]


@pytest.fixture
def workshop(tmp_path: Path) -> Environment:
    return open_workshop(tmp_path)


async def drive(
    workshop: Environment,
    err: Err | None = None,
    *,
    run: PathRun = RUN,
    sample: Sample | None = None,
    **options: Any,
) -> MultiStepRun:
    sample = sample or painting(workshop)
    records = await run_path(sample, context_of(workshop, Guide([sample], err, **options)), run=run)
    [kept] = [one for one in records if isinstance(one, MultiStepRun)]
    return kept


def writing(change: dict[str, Any]) -> Err:
    """The gold but for arguments of the call that paints."""

    def err(step: int, calls: Calls, tries: int) -> Calls:
        for call in calls:
            if call["name"] == "update_bicycle":
                call["arguments"] |= change
        return calls

    return err


@BOTH
async def test_the_gold_ends_the_world_as_it_should(workshop: Environment, run: PathRun) -> None:
    kept = await drive(workshop, run=run)
    assert (kept.success, kept.needless_changes, kept.error_type) == (True, 0, "")
    assert (kept.correct_calls, kept.total_calls, kept.steps, kept.shortest) == (3, 3, 2, 2)


@BOTH
async def test_one_wrong_write_is_a_failure_and_a_needless_change(
    workshop: Environment, run: PathRun
) -> None:
    other = bicycles(world_of(workshop))[1]
    colour = "white" if other["colour"] != "white" else "black"
    kept = await drive(workshop, writing({"bicycle_id": other["id"], "colour": colour}), run=run)
    assert (kept.success, kept.needless_changes) == (False, 1)
    assert kept.error_type


async def test_other_calls_that_lead_to_the_same_end_count(workshop: Environment) -> None:
    def roundabout(step: int, calls: Calls, tries: int) -> Calls:
        if step == 0:
            return [
                {"name": "list_bicycles", "arguments": {"colour": colour}}
                for colour in ("red", "blue")
            ]
        first = {"name": "update_bicycle", "arguments": {**calls[0]["arguments"], "colour": "blue"}}
        return [first, *reversed(calls)]

    kept = await drive(workshop, roundabout)
    assert (kept.success, kept.needless_changes) == (True, 0)
    assert kept.correct_calls < kept.total_calls, (
        "ComplexEval's figure beside it still tells them apart"
    )


async def test_what_the_world_refuses_is_told_and_can_be_made_good(workshop: Environment) -> None:
    def err(step: int, calls: Calls, tries: int) -> Calls:
        unknown = {"name": "update_bicycle", "arguments": {"bicycle_id": "none", "colour": "red"}}
        return [unknown, *calls] if step == 0 else calls

    kept = await drive(workshop, err)
    assert (kept.success, kept.needless_changes) == (True, 0)
    assert "There is no bicycle 'none'" in str(kept.messages[0].calls[0].observation)


async def test_who_goes_on_calling_until_the_limit_has_not_done_the_task(
    workshop: Environment,
) -> None:
    forever = [{"name": "update_bicycle", "arguments": {}}]
    kept = await drive(
        workshop,
        lambda step, calls, tries: forever if step else calls,
        run=RUN._replace(turn_limit=4),
    )
    assert (kept.success, kept.turns) == (False, 4)


async def test_who_does_all_and_tells_nothing_has_not_done_the_task(workshop: Environment) -> None:
    sample = telling(workshop)
    silent = sample.with_changes(turns=(*sample.turns[:-1], ReplyTurn(text="It is done.")))
    kept = await drive(workshop, sample=silent)
    assert (kept.success, kept.end_reached, kept.untold, kept.error_type) == (
        False,
        True,
        2,
        "stop_early",
    )


async def test_who_tells_all_and_changes_nothing_has_not_done_the_task(
    workshop: Environment,
) -> None:
    kept = await drive(workshop, sample=telling(workshop), stop_after=0)
    # what it says it has never seen, so it has told nothing
    assert (kept.success, kept.end_reached, kept.untold) == (False, False, 2)


async def test_what_the_same_call_returned_later_may_be_told_as_well(workshop: Environment) -> None:
    """The gold looks before the bicycle is painted; who has painted it may tell the new colour."""
    first = bicycles(world_of(workshop))[0]
    colour = "white" if first["colour"] != "white" else "black"
    sample = task(
        workshop,
        [("get_bicycle", {"bicycle_id": first["id"]})],
        [("update_bicycle", {"bicycle_id": first["id"], "colour": colour})],
        asked=(AskedField(0, 0, "colour"),),
        reply=f"It is {colour}.",
    )

    def err(step: int, calls: Calls, tries: int) -> Calls:
        return gold_steps(sample)[1 - step]

    assert (await drive(workshop, sample=sample)).untold == 0
    kept = await drive(workshop, err, sample=sample)
    assert (kept.success, kept.untold) == (True, 0)


class Asker:
    """Asks for what the request holds back and does the task with what it is told; else it takes
    the first choice there is.
    """

    name = "asker"

    def __init__(self, *, asks: bool = True, words: str = "") -> None:
        self.asks, self.words, self.seen = asks, words, list[str]()

    async def ask(self, prompt: Prompt, answer: type[Any], *, sample_index: int = 0) -> Any:
        text = prompt.messages[-1].content
        self.seen.append("\n".join(one.content for one in prompt.messages))
        request, history = (
            json.loads(text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0])
            for tag in ("request", "history")
        )
        told = next((one["user"] for one in history if "user" in one), "")
        made = [call["name"] for one in history for call in one.get("calls", ())]
        if "list_bicycles" not in made:
            return answer(calls=[{"name": "list_bicycles", "arguments": {}}])
        lacking = next((name for name, one in SAID.items() if one not in request), "")
        if lacking and self.asks and not told:
            return answer(answer=self.words or f"What is the {lacking}?")
        if "update_bicycle" not in made:
            said = f"{request} {told}".lower()
            colour = next((one for one in ("white", "red") if one in said), "red")
            part = next((one for one in ("chain", "brakes") if one in said), "brakes")
            given = {"bicycle_id": self.bicycle}
            paint = {"name": "update_bicycle", "arguments": {**given, "colour": colour}}
            return answer(
                calls=[paint, {"name": "create_repair", "arguments": {**given, "part": part}}]
            )
        return answer(answer="It is done.")


async def talk(workshop: Environment, asker: Asker, user: Any = None) -> MultiStepRun:
    asker.bicycle = bicycles(world_of(workshop))[0]["id"]
    run = RUN._replace(user="x")
    records = await run_path(
        request_to_paint(workshop), context_of(workshop, asker), run=run, user_chat=user or Person()
    )
    [kept] = [one for one in records if isinstance(one, MultiStepRun)]
    return kept


async def test_a_candidate_that_asks_is_answered_and_does_the_task(workshop: Environment) -> None:
    asker = Asker()
    kept = await talk(workshop, asker)
    assert (kept.success, kept.user_turns, kept.user_errors, kept.strategy) == (
        True,
        1,
        0,
        "direct/live(x)",
    )
    assert kept.opening != request_to_paint(workshop).request
    [asked] = [one for one in kept.messages if one.told]
    assert asked.text.startswith("What is the")
    assert all("The person is there and answers you." in one for one in asker.seen)


async def test_a_user_whose_words_are_refused_is_counted_and_still_right(
    workshop: Environment,
) -> None:
    kept = await talk(workshop, Asker(), Parrot("I'd like it in red, on 7 wheels."))
    assert (kept.success, kept.user_wordings, kept.user_refused, kept.user_errors) == (
        True,
        3,
        2,
        0,
    )


SAID = {"colour of the frame": "white", "part": "chain"}


class Person:
    """Opens without what is held back, and says what is due plainly."""

    name = "person"

    async def ask(self, prompt: Prompt, answer: type[Any], *, sample_index: int = 0) -> Any:
        if answer is OpeningWords:
            return answer(opening=opening_of(prompt))
        return answer(sentence=self.said(prompt))

    def said(self, prompt: Prompt) -> str:
        plain: str = shown(prompt, "plain")
        return plain


class Parrot(Person):
    """Says the same whatever it is asked."""

    def __init__(self, words: str) -> None:
        self.words = words

    def said(self, prompt: Prompt) -> str:
        return self.words
