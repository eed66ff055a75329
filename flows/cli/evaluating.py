"""`evaluate`: candidate models on a release."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.screen import AsJson, Screen, show_json, show_table


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("evaluate", epilog="Example: callwright evaluate v1 --model template/v1 --model openai/gpt-4o-mini")(
        evaluate
    )


def evaluate(  # noqa: PLR0917 - typer reads each option from a parameter
    release: Annotated[str, typer.Argument(help="The release to score on.")],
    model: Annotated[
        list[str] | None, typer.Option(help="A candidate by its litellm name; may be given again.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="Take the candidates of this recipe.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Ask every candidate so many times.")] = 1,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before this command has spent so many US dollars.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask candidate models for the calls that are due, and score them by HammerBench's metrics."""
    from flows.evaluation import choose_candidates, evaluate_release, leaderboard
    from flows.settings import read_settings

    settings = read_settings()
    candidates = choose_candidates(model or [], recipe)
    with Screen() as screen:
        asyncio.run(evaluate_release(release, candidates, settings, screen, runs=runs, budget=budget))
    rows = leaderboard(release, settings)
    if as_json:
        show_json(rows)
        return
    columns = list(rows[0]) if rows else []
    show_table(columns, [[row[column] for column in columns] for row in rows])
