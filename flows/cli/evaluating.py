"""`evaluate`: candidate models on a release."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli.screen import AsJson, Screen, show_json, show_table
from validators.metrics.complexeval.rules import TURN_LIMIT

if TYPE_CHECKING:
    from warehouse.rows import Row

# What a terminal has room for, under shorter heads; --json has all columns.
_SHOWN = {
    "model": "model", "tools_shown": "all tools", "run": "run", "judge": "judge", "func_acc": "func_acc",
    "args_acc": "args_acc", "pn_hr": "pn_hr", "pn_mr": "pn_mr", "pr": "pr", "sr": "sr", "irrelevant": "irrelevant",
    "intent_shift": "IS", "predictions": "predictions",
}  # fmt: skip
_SHOWN_OF_RUNS = (
    "model", "run", "judge", "mode", "domain", "success_rate", "call_acc", "completeness", "correctness", "runs", "steps",
    "shortest",
)  # fmt: skip


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
        str,
        typer.Option(
            help="Score also by the verdicts of this model: whether other words in a call mean the same; in multi-step samples"
            " also how complete and how correct final answers are."
        ),
    ] = "",
    complexeval: Annotated[
        Literal["as_paper", "as_published_code"],
        typer.Option(
            help="Drive candidates through multi-step samples as ComplexEval's paper says, or as its code does."
        ),
    ] = "as_paper",
    turns: Annotated[
        int, typer.Option(min=1, help="So many replies a candidate has for a multi-step sample.")
    ] = TURN_LIMIT,
    calls: Annotated[
        Literal["json", "native"],
        typer.Option(
            help="How candidates make calls in multi-step samples: as JSON, or as their provider's own calls."
        ),
    ] = "json",
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before this command has spent so many US dollars.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask candidate models for the calls that are due, drive them through multi-step samples, and score both."""
    from flows.evaluation import Conditions, choose_candidates, domain_board, evaluate_release, leaderboard
    from flows.settings import read_settings
    from llm.models import read_model

    settings = read_settings()
    candidates = choose_candidates(model or [], recipe)
    judged_by = read_model(judge) if judge else None
    strategy: Literal["direct", "native"] = "native" if calls == "native" else "direct"
    conditions = Conditions(runs, budget, tools, judged_by, complexeval, turns, strategy)
    with Screen() as screen:
        asyncio.run(evaluate_release(release, candidates, settings, screen, conditions))
    rows, domains = leaderboard(release, settings), domain_board(release, settings)
    if as_json:
        show_json([row | {"domains": [one for one in domains if _is_of(one, row)]} for row in rows])
        return
    snapshots = [row for row in rows if row["args_acc"] is not None or not row["multi_step_runs"]]
    if snapshots or not domains:
        show_table(list(_SHOWN.values()), [[row[column] for column in _SHOWN] for row in snapshots])
    if domains:
        show_table(_SHOWN_OF_RUNS, [[row[column] for column in _SHOWN_OF_RUNS] for row in domains])


def _is_of(domain: "Row", row: "Row") -> bool:
    return all(domain[name] == row[name] for name in ("model", "run", "judge", "strategy"))
