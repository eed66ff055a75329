"""Prefect flow: score candidate models on a release."""

from typing import Literal

from prefect import flow

from flows.engine.running import run_evaluating
from flows.engine.showing import explained, run_name
from flows.evaluation.evaluation_run import Conditions
from warehouse.rows import Row


@flow(name="evaluate-models", flow_run_name=run_name)
async def evaluate_models(  # noqa: PLR0913, PLR0917 - Prefect's form shows each as a field
    release: str,
    models: list[str] | None = None,
    recipe: str = "",
    runs: int = 1,
    budget: float = 0,
    tools: Literal["first", "always"] = "first",
    judge: str = "",
) -> list[Row]:
    """Ask candidate models for the calls that are due, and score them; what was asked before is not asked again.

    Args:
        release: The release to score on.
        models: Candidates by their litellm names.
        recipe: A recipe's YAML file, as the worker sees it, whose candidates are scored too.
        runs: Ask every candidate so many times.
        budget: Stop before this run has spent so many US dollars; 0 for no bound.
        tools: When candidates see all candidate tools: at a conversation's first snapshot, or always.
        judge: A model whose verdicts on the calls are scored too.

    """
    conditions = Conditions(runs, budget or None, tools)
    return await explained(run_evaluating(release, models or [], recipe, judge, conditions))
