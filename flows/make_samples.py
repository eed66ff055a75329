"""Prefect flow: make the samples of a recipe."""

from prefect import flow

from flows.engine.running import run_making
from flows.engine.showing import explained, run_name


@flow(name="make-samples", flow_run_name=run_name)
async def make_samples(recipe: str, limit: int = 0, model: str = "", kinds: list[str] | None = None) -> int:
    """Make the samples that the recipe still lacks; how many were planned.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.
        kinds: Only samples of these kinds; empty for all that can be made of what has passed its checks.

    """
    return await explained(run_making(recipe, limit, model, kinds or []))
