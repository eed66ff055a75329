"""Prefect flow: build a recipe, each group of stages a flow of its own."""

from typing import cast

from prefect import flow
from prefect.client.schemas.objects import State

from flows.build import BuildReport, BuildSteps, carry_out_build
from flows.check_samples import check_samples
from flows.engine.running import chosen_recipe, run_pushing, unchanged
from flows.engine.showing import explained, run_name
from flows.land_samples import land_samples
from flows.make_samples import make_samples


@flow(name="build-dataset", flow_run_name=run_name)
async def build_dataset(recipe: str, limit: int = 0, model: str = "", review: bool = True) -> BuildReport:  # noqa: FBT001, FBT002 - Prefect shows it as a switch
    """Build a recipe's samples, going on where its last build stopped; nothing is done where nothing has changed since it ended.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.
        review: Push what waits for people to Label Studio.

    """
    built = await explained(_build(recipe, limit, model, review=review))
    return cast("BuildReport", built)  # Prefect gives callers what is in a state


async def _build(recipe: str, limit: int, model: str, *, review: bool) -> BuildReport | State[BuildReport]:
    report: BuildReport | State[BuildReport] | None = unchanged(recipe, limit, model)
    if report is None:
        steps = BuildSteps(
            lambda kinds: make_samples(recipe, limit, model, [*kinds]),
            lambda: check_samples(recipe, limit, model),
            lambda: land_samples(recipe, limit, model),
        )
        report = await carry_out_build(chosen_recipe(recipe, limit, model), steps)
    if review:
        await run_pushing()
    return report
