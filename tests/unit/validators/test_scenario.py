"""The check scenario: what can't be acted out as it stands makes no conversation."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from callwright.generators.conversations.moves import plan_conversations, word_scenarios
from callwright.generators.conversations.scenarios import plan_scenarios
from callwright.generators.stages import StageContext
from callwright.testing import ScriptedModel
from callwright.validators.checks.complexity import check_scenario
from callwright.validators.judges import ScenarioReading, Want
from callwright.warehouse.records import (
    Complexity,
    EpisodePlan,
    Language,
    Scenario,
    Verdict,
    WordedScenario,
)
from tests.support.conversational import TOOLS, scenario_order, template_context

NAMES = {key: tool.name for key, tool in TOOLS.items()}


async def worded(
    complexity: Complexity, language: Language = "en", *, seed: int = 1
) -> WordedScenario:
    (scenario,) = plan_scenarios(
        complexity,
        scenario_order(complexity, 1, list(TOOLS.values()), seed=seed, language=language),
    )
    context = template_context(scenario.seed)
    (plan,) = await plan_conversations(scenario, context)
    (one,) = await word_scenarios(plan, context)
    return one


async def judged(one: WordedScenario) -> Verdict:
    (verdict,) = await check_scenario(one, template_context())
    return verdict


def with_scenario(
    one: WordedScenario, change: Callable[[Scenario], dict[str, Any]]
) -> WordedScenario:
    plan = one.plan
    return one.with_changes(
        plan=plan.with_changes(scenario=plan.scenario.with_changes(**change(plan.scenario)))
    )


async def read_as(one: WordedScenario, wants: Sequence[tuple[str, str | None]]) -> Verdict:
    """The verdict where the judge reads these wishes."""
    reading = ScenarioReading(wants=[Want(want=want, tool=tool) for want, tool in wants])
    model = ScriptedModel({"read_scenario": [reading]})
    (verdict,) = await check_scenario(
        one, StageContext(chat=model, rng=template_context().rng, tools=TOOLS)
    )
    assert not model.left
    return verdict


def asked_keys(one: WordedScenario) -> list[str]:
    found = [part.tool for move in one.plan.moves if move.speaker == "user" for part in move.parts]
    return list(dict.fromkeys(found))


def true_wants(one: WordedScenario) -> list[tuple[str, str | None]]:
    withheld = one.plan.scenario.withheld
    return [(NAMES[key], None if key in withheld else NAMES[key]) for key in asked_keys(one)]


NO_TIMES = ("", "soon", "2026-13-02 08:15", "2026-11-02", "2026-11-2 8:15")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        *(({"reference_time": time}, "reference time") for time in NO_TIMES),
        ({"minimum_turns": 19}, "its plan has"),
        ({"minimum_turns": 21}, "nobody plays more than 20"),
    ],
)
async def test_a_time_that_is_none_and_more_turns_than_the_plan_has_are_contradicted(
    changes: dict[str, Any], told: str
) -> None:
    verdict = await judged(with_scenario(await worded("underfill"), lambda _: changes))
    assert verdict.decision == "contradicted"
    assert told in verdict.reason


async def test_an_api_that_is_not_at_hand_is_contradicted() -> None:
    one = await worded("no_target_complexity")
    used = one.plan.scenario.episodes[0].tools[0]
    lacking = with_scenario(
        one, lambda old: {"candidates": tuple(key for key in old.candidates if key != used)}
    )
    verdict = await judged(lacking)
    assert verdict.decision == "contradicted"
    assert "not at hand" in verdict.reason


async def test_what_is_to_be_refused_may_not_be_at_hand() -> None:
    one = await worded("goal_not_supported")
    both = await judged(
        with_scenario(one, lambda old: {"candidates": (*old.candidates, old.withheld[0])})
    )
    assert (both.decision, "at once" in both.reason) == ("contradicted", True)
    neither = await judged(with_scenario(one, lambda _: {"withheld": ()}))
    assert (neither.decision, "is not withheld" in neither.reason) == ("contradicted", True)


async def test_a_complexity_without_its_episode_is_contradicted() -> None:
    one = await worded("no_target_complexity")
    verdict = await judged(with_scenario(one, lambda _: {"complexity": "goal_not_supported"}))
    assert verdict.decision == "contradicted"
    assert "No episode has the shape 'unsupported'" in verdict.reason


@pytest.mark.parametrize(
    ("complexity", "problem"),
    [
        ("goal_switching", "two APIs that differ"),
        ("goal_stacking", "two APIs that differ"),
        ("ambiguous_goal", "two APIs that differ"),
        ("overfill", "two APIs that differ"),
        ("follow_up_question", "two APIs that differ"),
    ],
)
async def test_what_takes_two_apis_is_not_possible_with_one(
    complexity: Complexity, problem: str
) -> None:
    def with_one(old: Scenario) -> dict[str, Any]:
        cut = [
            EpisodePlan(shape=one.shape, tools=one.tools[:1], count=one.count)
            for one in old.episodes
        ]
        return {"episodes": tuple(cut)}

    verdict = await judged(with_scenario(await worded(complexity), with_one))
    assert verdict.decision == "contradicted"
    assert f"{complexity!r} is not possible with its APIs" in verdict.reason
    assert problem in verdict.reason


async def test_a_follow_up_is_not_possible_where_nothing_is_handed_on() -> None:
    def turned_round(old: Scenario) -> dict[str, Any]:
        turned = [one.with_changes(tools=one.tools[::-1]) for one in old.episodes]
        return {"episodes": tuple(turned)}

    verdict = await judged(with_scenario(await worded("follow_up_question"), turned_round))
    assert verdict.decision == "contradicted"
    assert "is required by" in verdict.reason


async def test_a_goal_that_wants_nothing_of_its_apis_is_unproved() -> None:
    verdict = await judged(
        (await worded("underfill")).with_changes(goal="You want to talk about the weather.")
    )
    assert verdict.decision == "unproved"
    assert "no wish in the goal" in verdict.reason


async def test_a_goal_that_wants_what_no_api_does_is_unproved_but_where_this_is_required() -> None:
    served, refused = await worded("no_target_complexity"), await worded("goal_not_supported")
    more = served.with_changes(goal=f"{served.goal} You also want your piano tuned.")
    verdict = await judged(more)
    assert (verdict.decision, "none of the APIs does" in verdict.reason) == ("unproved", True)
    assert (await read_as(refused, true_wants(refused))).decision == "proved"
    only = [(want, tool) for want, tool in true_wants(refused) if tool is not None]
    lacking = await read_as(refused, only)
    assert (lacking.decision, "one is to be refused" in lacking.reason) == ("unproved", True)
