"""Prefect flow: land the samples of a recipe."""

from prefect import flow

from flows.build import BuildReport
from flows.engine.running import run_landing
from flows.engine.showing import explained, run_name


@flow(name="land-samples", flow_run_name=run_name)
async def land_samples(recipe: str, limit: int = 0, model: str = "") -> BuildReport:
    """Sort out duplicates, ask people about what is in doubt, and accept the rest.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.

    """
    return await explained(run_landing(recipe, limit, model))
