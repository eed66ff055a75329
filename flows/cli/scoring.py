"""`score`: the papers' own result files, by the papers' own metrics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli.screen import AsJson, say, show, show_json
from warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from flows.scoring import Scoring

_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    score = typer.Typer(
        help="Score the result files that a paper's own runs left.", no_args_is_help=True, rich_markup_mode=None
    )
    score.command("hammerbench", epilog=_EXAMPLES)(score_hammerbench)
    app.add_typer(score, name="score")


_EXAMPLES = (
    "Example: callwright score hammerbench --logs gpt4o_logs/mQmA; "
    "with --logs SO_case1 --logs SO_case2 --snapshots shift both are scored as one, where values are overridden; "
    "with --predictions log.json --language en as the newest release does."
)


def score_hammerbench(  # noqa: PLR0913, PLR0917 - typer reads each option from a parameter
    logs: Annotated[
        list[Path] | None,
        typer.Option("--logs", help="A folder with MT_res.json; given again, the conversations are scored together."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Single predictions with their labels: a JSON list, as the newest release has it."),
    ] = None,
    irrelevant: Annotated[
        Path | None, typer.Option(help="Replies to requests that no tool fits: a CSV or a JSON list.")
    ] = None,
    snapshots: Annotated[
        str,
        typer.Option(
            metavar="all|first|last|shift|FILE",
            help="Which snapshots of the logs; FILE lists them, shift takes each log's own snapshot_id.json.",
        ),
    ] = "all",
    verdicts: Annotated[
        Literal["flags", "rule"] | None,
        typer.Option(help="The judge's, of turn_flags_res.json, or by rule; flags where there are any, unless said."),
    ] = None,
    language: Annotated[
        Literal["en", "zh"] | None, typer.Option(help="The language of the values; logs tell it themselves.")
    ] = None,
    style: Annotated[
        Literal["default", "mistral", "xlam", "toolace", "lenient"], typer.Option(help="How the model writes calls.")
    ] = "default",
    column: Annotated[str, typer.Option(help="The column or field of --irrelevant that holds the replies.")] = "",
    as_json: AsJson = False,
) -> None:
    """Score HammerBench's result files by the metrics of its paper, as fractions."""
    from flows.scoring import score_flat_file, score_logs, score_replies

    if [bool(logs), bool(predictions), bool(irrelevant)].count(True) != 1:
        raise ConfigurationError(
            "Say what to score, one thing at a time: --logs DIR, --predictions FILE or --irrelevant FILE."
        )
    if predictions:
        if language is None:
            raise ConfigurationError("Values are compared by language. Give --language en or --language zh.")
        _present(score_flat_file(predictions, language, style), as_json=as_json)
    elif irrelevant:
        _present(score_replies(irrelevant, column), as_json=as_json)
    else:
        scoring = score_logs(logs or [], snapshots=snapshots, verdicts=verdicts, language=language, style=style)
        _present(scoring, as_json=as_json)


def _present(scoring: "Scoring", *, as_json: bool) -> None:
    if as_json:
        show_json({**scoring.figures, **scoring.told, "problems": scoring.problems})
    else:
        width = max(map(len, [*scoring.figures, *scoring.told]))
        for name, value in {**scoring.figures, **scoring.told}.items():
            show(f"{name:{width}}  {value:.6f}" if isinstance(value, float) else f"{name:{width}}  {value}")
    if scoring.problems:
        say(f"{len(scoring.problems)} replies could not be scored as a call; they count as wrong.")
        for problem in scoring.problems[:_SHOWN]:
            say(f"  {problem}")
        if len(scoring.problems) > _SHOWN:
            say(f"  ... and {len(scoring.problems) - _SHOWN} more; --json lists all.")
