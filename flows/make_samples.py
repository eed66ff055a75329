"""Prefect flow: make the samples of a recipe."""

from prefect import flow

from flows.build import BuildReport
from flows.engine.running import run_making
from flows.engine.telling import explained, run_name


@flow(name="make-samples", flow_run_name=run_name)
async def make_samples(recipe: str, limit: int = 0, model: str = "") -> BuildReport:
    """Make the samples that the recipe still lacks.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.

    """
    return await explained(run_making(recipe, limit, model))
