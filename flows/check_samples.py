"""Prefect flow: check the samples of a recipe."""

from prefect import flow

from flows.build import BuildReport
from flows.engine.running import run_checking
from flows.engine.showing import explained, run_name


@flow(name="check-samples", flow_run_name=run_name)
async def check_samples(recipe: str, limit: int = 0, model: str = "") -> BuildReport:
    """Carry the samples that no check has seen yet through the checks.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.

    """
    return await explained(run_checking(recipe, limit, model))
