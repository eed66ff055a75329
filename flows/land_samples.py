"""Prefect flow: land the samples of a recipe."""

from typing import Any

from prefect import flow

from flows.engine.running import opened, run_landing


@flow(name="land-samples")
async def land_samples(recipe: str, limit: int = 0, model: str = "") -> dict[str, Any]:
    """Sort out duplicates, ask people about what is in doubt, and accept the rest."""
    report = await run_landing(opened(recipe, limit, model))
    return report._asdict()
