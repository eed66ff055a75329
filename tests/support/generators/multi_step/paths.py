"""The shortest paths by themselves, without the goals that they are planned by."""

from collections.abc import Sequence

from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.resolving import RememberedEnvironment, resolve
from callwright.generators.multi_step.search import Path, find_plans
from callwright.warehouse.records import Goal, Strike, Tool


async def shortest_paths(
    goal: Goal,
    environment: Environment,
    candidates: Sequence[Tool],
    strikes: Sequence[Strike] = (),
    limit: int = 2,
) -> list[Path]:
    """The shortest paths with the candidates alone, the planned one first, at most `limit` of them.

    `strikes` name places of the path that `resolve` makes of the goal. None at all where the goal
    can't be met.
    """
    remembered = RememberedEnvironment(environment)
    if strikes:
        remembered = remembered.struck((await resolve(goal, remembered)).path, strikes)
    return [plan.path for plan in await find_plans(goal, remembered, candidates, limit)]
