"""The check complexity: each of the thirteen is proved where it is, and not where it was taken
away.
"""

from collections.abc import Callable
from itertools import count
from typing import get_args

import pytest
from pydantic import JsonValue

from callwright.validators.checks.complexity import check_complexity
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.warehouse.records import (
    CallTurn,
    Complexity,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Turn,
    UserTurn,
    Verdict,
)
from tests.support.conversational import converse, template_context

COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)
FINE: JsonValue = {"status": "fine"}
ERROR: JsonValue = {"error": {"code": "unavailable", "message": "away"}}


async def judged(sample: Sample) -> Verdict:
    (verdict,) = await check_complexity(sample, template_context())
    return verdict


def changed(sample: Sample, change: Callable[[Turn], Turn]) -> Sample:
    return sample.with_changes(turns=tuple(change(turn) for turn in sample.turns))


def with_text(sample: Sample, change: Callable[[str], str]) -> Sample:
    """The same with other words of the user's."""
    return changed(
        sample,
        lambda turn: (
            turn.with_changes(text=change(turn.text)) if isinstance(turn, UserTurn) else turn
        ),
    )


def with_results(sample: Sample, result: JsonValue) -> Sample:
    return changed(
        sample,
        lambda turn: turn.with_changes(results=(result,)) if isinstance(turn, ResultTurn) else turn,
    )


def without_acts(sample: Sample, act: str) -> Sample:
    def change(turn: Turn) -> Turn:
        seeks = isinstance(turn, ReplyTurn) and act in turn.acts
        return turn.with_changes(acts=("inform",)) if seeks else turn

    return changed(sample, change)


def repeating_first_calls(sample: Sample) -> Sample:
    """Every later call of a tool as the first one was: no value is corrected."""
    first: dict[str, CallTurn] = {}

    def change(turn: Turn) -> Turn:
        return first.setdefault(turn.calls[0].tool, turn) if isinstance(turn, CallTurn) else turn

    return changed(sample, change)


def with_one_goal_a_turn(sample: Sample) -> Sample:
    """The same, but each turn asks for one thing only, by what is noted."""
    first = {one.turn: one for one in reversed(sample.facts.goals)}
    goals = tuple(one for one in sample.facts.goals if one is first[one.turn])
    return sample.with_changes(facts=sample.facts.with_changes(goals=goals))


def with_new_values(sample: Sample) -> Sample:
    """Calls whose values nobody knows from before."""

    def change(turn: Turn) -> Turn:
        if not isinstance(turn, CallTurn):
            return turn
        nobody_knows = f"new {next(numbers)}"
        calls = (
            call.with_changes(arguments=dict.fromkeys(call.arguments, nobody_knows))
            for call in turn.calls
        )
        return turn.with_changes(calls=tuple(calls))

    numbers = count()
    return changed(sample, change)


def with_all_served(sample: Sample) -> Sample:
    """No request refused: each reply tells something instead."""
    return without_acts(sample, "reject")


def saying_nothing(sample: Sample) -> Sample:
    return with_text(sample, lambda _text: "Well.")


def with_the_extra_used(sample: Sample) -> Sample:
    """What was said beside the point is an argument of every call."""
    words = sample.facts.extras[0].words

    def change(turn: Turn) -> Turn:
        if not isinstance(turn, CallTurn):
            return turn
        return turn.with_changes(
            calls=tuple(
                call.with_changes(arguments={**call.arguments, "x": words}) for call in turn.calls
            )
        )

    return changed(sample, change)


BREAKS: dict[Complexity, Callable[[Sample], Sample]] = {
    "exception_in_execution": lambda sample: with_results(sample, FINE),
    "failed_conversation": lambda sample: with_results(sample, FINE),
    "confirmation": lambda sample: without_acts(sample, "seek"),
    "goal_switching": lambda sample: without_acts(sample, "seek"),
    "no_target_complexity": lambda sample: with_results(sample, ERROR),
    "goal_correction": repeating_first_calls,
    "goal_stacking": with_one_goal_a_turn,
    "ambiguous_goal": lambda sample: without_acts(sample, "seek"),
    "follow_up_question": with_new_values,
    "implicit_descriptive_goal": saying_nothing,
    "overfill": with_the_extra_used,
    "underfill": lambda sample: without_acts(sample, "seek"),
    "goal_not_supported": with_all_served,
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("complexity", COMPLEXITIES)
async def test_a_conversation_is_made_and_every_check_proves_it(
    complexity: Complexity, language: Language
) -> None:
    sample = await converse(complexity, language, seed=3)
    for check in (check_complexity, check_format):
        (verdict,) = await check(sample, template_context())
        assert verdict.decision == "proved", verdict.reason
    (grounds,) = await check_grounding(sample, template_context())
    assert grounds.decision == "proved", grounds.reason


@pytest.mark.parametrize("complexity", COMPLEXITIES)
async def test_a_conversation_without_its_complexity_is_not_proved(complexity: Complexity) -> None:
    broken = BREAKS[complexity](await converse(complexity))
    verdict = await judged(broken)
    assert verdict.decision == "unproved"
    assert verdict.reason.endswith(".")


async def test_an_error_that_a_second_call_makes_good_is_no_failed_conversation() -> None:
    sample = await converse("exception_in_execution")
    retagged = sample.with_changes(
        facts=sample.facts.with_changes(complexity="failed_conversation")
    )
    assert (await judged(retagged)).decision == "unproved"


async def test_a_complexity_that_nobody_knows_is_not_proved() -> None:
    sample = await converse("underfill")
    verdict = await judged(sample.with_changes(facts=SampleFacts(complexity="unheard_of")))
    assert verdict.decision == "unproved"
    assert "unheard_of" in verdict.reason


async def test_an_incomplete_call_of_a_conversation_breaks_the_format() -> None:
    sample = await converse("underfill")
    (verdict,) = await check_format(
        changed(
            sample,
            lambda turn: (
                turn.with_changes(calls=(turn.calls[0].with_changes(arguments={}, evidence=()),))
                if isinstance(turn, CallTurn)
                else turn
            ),
        ),
        template_context(),
    )
    assert verdict.decision == "contradicted"
    assert "is required" in verdict.reason
