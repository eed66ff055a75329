"""`evaluate`: candidate models on a release."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.screen import AsJson, Screen, show_json, show_table

# What a terminal has room for, under shorter heads; --json has all columns.
_SHOWN = {
    "model": "model", "tools_shown": "all tools", "run": "run", "judge": "judge", "func_acc": "func_acc",
    "args_acc": "args_acc", "pn_hr": "pn_hr", "pn_mr": "pn_mr", "pr": "pr", "sr": "sr", "irrelevant": "irrelevant",
    "intent_shift": "IS", "predictions": "predictions",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("evaluate", epilog="Example: callwright evaluate v1 --model template/v1 --model openai/gpt-4o-mini")(
        evaluate
    )


def evaluate(  # noqa: PLR0913, PLR0917 - typer reads each option from a parameter
    release: Annotated[str, typer.Argument(help="The release to score on.")],
    model: Annotated[
        list[str] | None, typer.Option(help="A candidate by its litellm name; may be given again.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="Take the candidates of this recipe.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Ask every candidate so many times.")] = 1,
    tools: Annotated[
        Literal["first", "always"],
        typer.Option(
            help="When candidates see all candidate tools: at a conversation's first snapshot, and then the one it is about"
            " (as HammerBench's runs did), or always. Both are kept apart."
        ),
    ] = "first",
    judge: Annotated[
        str, typer.Option(help="Score also by the verdicts of this model: whether other words in a call mean the same.")
    ] = "",
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before this command has spent so many US dollars.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask candidate models for the calls that are due, and score them by HammerBench's metrics."""
    from flows.evaluation import Conditions, choose_candidates, evaluate_release, leaderboard
    from flows.settings import read_settings
    from llm.models import read_model

    settings = read_settings()
    candidates = choose_candidates(model or [], recipe)
    conditions = Conditions(runs, budget, tools, read_model(judge) if judge else None)
    with Screen() as screen:
        asyncio.run(evaluate_release(release, candidates, settings, screen, conditions))
    rows = leaderboard(release, settings)
    if as_json:
        show_json(rows)
        return
    show_table(list(_SHOWN.values()), [[row[column] for column in _SHOWN] for row in rows])
