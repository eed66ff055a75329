"""Prefect flow: build a recipe, each group of stages a flow of its own."""

from typing import Any

from prefect import flow

from flows.check_samples import check_samples
from flows.land_samples import land_samples
from flows.make_samples import make_samples


@flow(name="build-dataset", flow_run_name="build-{recipe}")
async def build_dataset(recipe: str, limit: int = 0, model: str = "") -> dict[str, Any]:
    """Build the recipe at this path, going on where its last build stopped."""
    await make_samples(recipe, limit, model)
    await check_samples(recipe, limit, model)
    return await land_samples(recipe, limit, model)
