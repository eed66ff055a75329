"""Evaluation as Prefect carries it out: one task, and a table for the scores."""

from pathlib import Path
from typing import Any

from prefect import task

from flows.engine.artifacts import show_scores
from flows.engine.entering import flow_settings
from flows.engine.telling import FlowProgress, explained
from flows.evaluation.evaluating import Conditions, choose_candidates, evaluate_release, leaderboard
from flows.places import open_warehouse
from flows.report import write_report
from llm.models import read_model
from warehouse.rows import Row


async def run_evaluating(release: str, models: list[str], recipe: str, judge: str, conditions: Conditions) -> list[Row]:
    """Score candidates on a release, and show the leaderboard."""
    settings, progress = flow_settings(), FlowProgress()
    candidates = choose_candidates(models, Path(recipe) if recipe else None)
    conditions = conditions._replace(judge=read_model(judge) if judge else None)

    @task(name="score-candidates", task_run_name="{labels}", persist_result=False)
    async def score_candidates(labels: str) -> None:  # all of them in one: they share the budget
        return await explained(evaluate_release(release, candidates, settings, progress, conditions))

    labels = ", ".join(candidate.label for candidate in candidates)
    scoring: Any = score_candidates(labels, return_state=True)  # its type hides that it is to be awaited
    await (await scoring).aresult()  # raises what the task could not do
    board = leaderboard(release, settings)
    warehouse = open_warehouse(settings)
    await show_scores(release, board, write_report(warehouse, settings.home / "report.html"))
    return board
