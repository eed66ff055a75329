"""Goals: they succeed in their environment, hang together, and are on average what was asked
for.
"""

import pytest

from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.making import CROSS, plan_goals
from callwright.generators.multi_step.resolving import resolve
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Goal
from tests.support.generators.multi_step.small_world import SmallWorld


async def goals_of(environment: Environment, domain: str, count: int, seed: int = 1) -> list[Goal]:
    return [goal async for goal in plan_goals(domain, "en", count, environment, seed=seed)]


@pytest.mark.parametrize("domain", ["Inns", CROSS])
async def test_every_call_of_a_goal_succeeds(domain: str):
    goals = await goals_of(SmallWorld(), domain, 12)
    assert len(goals) == 12
    for goal in goals:
        resolved = await resolve(goal, SmallWorld())
        assert len(resolved.positions) == len(goal.calls)


async def test_goals_are_all_different_and_the_same_again_for_the_same_seed():
    goals = await goals_of(SmallWorld(), "Inns", 12)
    assert len({goal.key for goal in goals}) == 12
    assert goals == await goals_of(SmallWorld(), "Inns", 12)
    assert goals != await goals_of(SmallWorld(), "Inns", 12, seed=2)


async def test_candidates_are_the_tools_of_the_domains_and_the_wanted_calls_are_marked():
    for goal in await goals_of(SmallWorld(), "Inns", 5):
        assert set(goal.candidates) == {
            tool.key for tool in SmallWorld.tools if tool.category == "Inns"
        }
        assert any(call.wanted for call in goal.calls)


async def test_a_domain_without_tools_is_told_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="Inns, Sights"):
        await goals_of(SmallWorld(), "Trains", 1)
