"""Prefect flow: score candidate models on a release."""

from prefect import flow

from flows.engine.evaluating import run_evaluating
from flows.engine.telling import explained, run_name
from warehouse.rows import Row


@flow(name="evaluate-models", flow_run_name=run_name)
async def evaluate_models(
    release: str, models: list[str] | None = None, recipe: str = "", runs: int = 1, budget: float = 0
) -> list[Row]:
    """Ask candidate models for the calls that are due, and score them; what was asked before is not asked again.

    Args:
        release: The release to score on.
        models: Candidates by their litellm names.
        recipe: A recipe's YAML file, as the worker sees it, whose candidates are scored too.
        runs: Ask every candidate so many times.
        budget: Stop before this run has spent so many US dollars; 0 for no bound.

    """
    return await explained(run_evaluating(release, models or [], recipe, runs, budget))
