"""Runs of a schedule from the command line: what Prefect's flow `grow-dataset` does, without it."""

from datetime import datetime
from pathlib import Path

from callwright.flows.api.evaluating import evaluate_async
from callwright.flows.planning.estimating import tell_costs
from callwright.flows.progress import Progress
from callwright.flows.recipe import read_recipe_to_build
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import build_dataset, find_unchanged
from callwright.flows.run.work import check_keys
from callwright.flows.scheduled_runs import (
    Grown,
    MadeByRule,
    RunReport,
    carry_out,
    note_evaluated,
    release_reviewed,
    unevaluated,
)
from callwright.flows.settings import Settings


async def grow(path: Path, due: datetime, settings: Settings, progress: Progress) -> Grown:
    """Carry out the run of a recipe's schedule that is due; release and evaluate by its rule.

    Raises what a build and an evaluation raise; the same call goes on from there.
    """
    recipe, reports = read_recipe_to_build(path), list[RunReport]()
    check_keys(recipe)

    async def build(run: int) -> BuildReport:
        chosen = recipe.as_run(run)
        if (unchanged := find_unchanged(chosen, settings, progress)) is not None:
            return unchanged.report
        await tell_costs(chosen, settings, progress)
        return await build_dataset(chosen, settings, progress)

    async for report in carry_out(recipe, due, settings, build):
        reports.append(report)
    made: list[MadeByRule] = release_reviewed(settings)
    for one in [*unevaluated(settings)]:
        await evaluate_async(
            one.release.name, one.recipe.candidates, home=settings.home, progress=progress
        )
        note_evaluated(settings, one)
    return Grown(tuple(reports), tuple(one.release for one in made))
