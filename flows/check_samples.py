"""Prefect flow: check the samples of a recipe."""

from prefect import flow

from flows.engine.running import opened, run_checking


@flow(name="check-samples")
async def check_samples(recipe: str, limit: int = 0, model: str = "") -> None:
    """Carry the samples that no check has seen yet through the checks."""
    await run_checking(opened(recipe, limit, model))
