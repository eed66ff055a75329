"""Prefect flow: make the samples of a recipe."""

from prefect import flow

from flows.engine.running import opened, run_making


@flow(name="make-samples")
async def make_samples(recipe: str, limit: int = 0, model: str = "") -> None:
    """Make the samples of the recipe at this path; `limit` and `model` are those of `callwright build`."""
    await run_making(opened(recipe, limit, model))
