"""`score`: the papers' own result files, by the papers' own metrics."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callwright.flows.cli.screen import AsJson, say, show, show_json, show_table
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.evaluation.scoring import CallNaviScoring, PathScoring, Scoring
    from callwright.validators.metrics.confetti.scores import ConfettiScores

_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    score = typer.Typer(
        help="Score the result files that a paper's own runs left.", no_args_is_help=True, rich_markup_mode=None
    )
    score.command("hammerbench", epilog=_EXAMPLES)(score_hammerbench)
    score.command(
        "complexfuncbench", epilog="Example: callwright score complexfuncbench --results results.jsonl --json"
    )(score_results)
    score.command(
        "callnavi",
        epilog="Example: callwright score callnavi --questions callnavi/Questions --predictions answers --json",
    )(score_answers)
    score.command(
        "confetti", epilog="Example: callwright score confetti --answers possible_answer --predictions result --json"
    )(score_turns)
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
        str | None, typer.Option(metavar="CODE", help="The language of the values; logs tell it themselves.")
    ] = None,
    style: Annotated[
        Literal["default", "mistral", "xlam", "toolace", "lenient"], typer.Option(help="How the model writes calls.")
    ] = "default",
    column: Annotated[str, typer.Option(help="The column or field of --irrelevant that holds the replies.")] = "",
    as_json: AsJson = False,
) -> None:
    """Score HammerBench's result files by the metrics of its paper, as fractions."""
    from callwright.flows.evaluation.scoring import score_flat_file, score_logs, score_replies
    from callwright.language.packs import known, of

    if [bool(logs), bool(predictions), bool(irrelevant)].count(True) != 1:
        raise ConfigurationError(
            "Say what to score, one thing at a time: --logs DIR, --predictions FILE or --irrelevant FILE."
        )
    if language is not None:
        of(language)  # a language that is not there is refused before anything is read
    if predictions:
        if language is None:
            raise ConfigurationError(f"Values are compared by language. Give --language, one of {', '.join(known())}.")
        _present(score_flat_file(predictions, language, style), as_json=as_json)
    elif irrelevant:
        _present(score_replies(irrelevant, column), as_json=as_json)
    else:
        scoring = score_logs(logs or [], snapshots=snapshots, verdicts=verdicts, language=language, style=style)
        _present(scoring, as_json=as_json)


def score_results(
    results: Annotated[
        Path, typer.Option("--results", help="The rows that an evaluation left: JSON lines or a JSON list.")
    ],
    mode: Annotated[
        Literal["as_published_code", "as_paper"],
        typer.Option(help="Success as the published code divides it (by 150, 400 and 1000), or by the rows there are."),
    ] = "as_published_code",
    as_json: AsJson = False,
) -> None:
    """Score ComplexFuncBench's result files: success and call accuracy, answers, errors and steps, as fractions."""
    from callwright.flows.evaluation.scoring import score_complexfuncbench

    scoring = score_complexfuncbench(results, mode)
    if as_json:
        show_json({**_path_figures(scoring), "mode": mode, "problems": scoring.problems})
    else:
        _show_paths(scoring)
        for problem in scoring.problems:
            say(problem)


def score_answers(
    questions: Annotated[Path, typer.Option("--questions", help="The folder with a DOMAIN.json of questions each.")],
    predictions: Annotated[
        list[Path],
        typer.Option(
            "--predictions",
            help='The folder with a DOMAIN.json each: a list of {"predict": ...}. Given again for further runs of the '
            "same model: the first is scored, and how steady all are.",
        ),
    ],
    repair: Annotated[
        Literal["rules", "none"],
        typer.Option(
            help="Read answers that are no JSON by rules, as the paper has a model do; or count them as wrong."
        ),
    ] = "rules",
    as_json: AsJson = False,
) -> None:
    """Score CallNavi's predictions: syntax, routing, structure and AST match by difficulty, as fractions."""
    from callwright.flows.evaluation.scoring import score_callnavi

    scoring = score_callnavi(questions, predictions, repair=repair == "rules")
    if as_json:
        details = {"questions": scoring.questions, "repair": repair, "problems": scoring.problems}
        show_json({**_named_shares(scoring), **details})
    else:
        show_table(
            ("figure", *_SHARES),
            [(name, *(getattr(shares, part) for part in _SHARES)) for name, shares in scoring.shares.items()],
        )
        _tell(scoring.problems, "remarks on what was predicted; what can't be read counts as wrong.")


_SHARES = ("easy", "medium", "hard", "overall", "macro")


def _named_shares(scoring: "CallNaviScoring") -> dict[str, object]:
    return {name: shares._asdict() for name, shares in scoring.shares.items()}


def score_turns(  # noqa: PLR0913, PLR0917 - typer reads each option from a parameter
    answers: Annotated[Path, typer.Option("--answers", help="The folder of CONFETTI's accepted calls and acts.")],
    predictions: Annotated[
        Path,
        typer.Option("--predictions", help='Rows with "id" and "result", as BFCL writes them: a file or a folder.'),
    ],
    questions: Annotated[
        Path | None, typer.Option("--questions", help="The question files, where there are any: tools and turns.")
    ] = None,
    scorer: Annotated[
        Literal["meaning", "words", "rouge", "exact", "alignscore"], typer.Option(help="How alike two texts are.")
    ] = "meaning",
    weights: Annotated[Path | None, typer.Option("--weights", help="AlignScore's checkpoint.")] = None,
    combine: Annotated[
        Literal["mean", "product", "least"], typer.Option(help="How a call's score comes of its parameters'.")
    ] = "mean",
    partial: Annotated[
        bool,
        typer.Option("--partial", help="A missing or unexpected parameter is worth 0 by itself, not the whole call."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score CONFETTI's predictions turn by turn: AST soft, chains, dialogue acts, validity, as fractions."""
    from callwright.flows.evaluation.scoring import score_confetti
    from callwright.validators.metrics.confetti.soft import Combining, open_scorer

    scores = score_confetti(
        answers,
        predictions,
        questions=questions,
        scorer=open_scorer(scorer, weights),
        combining=Combining(combine, whole=not partial),
    )
    if as_json:
        show_json({**scores._asdict(), "scorer": scorer, "combine": combine, "partial": partial})
    else:
        _show_confetti(scores)


def _show_confetti(scores: "ConfettiScores") -> None:
    columns = ("chains", "ast_soft", "ast")
    rows: list[tuple[object, ...]] = [
        ("calls", "", scores.calls, scores.ast_soft, scores.ast),
        ("chains", "", scores.chains, scores.ast_soft_chains, scores.ast_chains),
    ]
    for name in ("by_chain_length", "by_user_turns", "by_tools"):
        rows += [
            (name, part, *(getattr(one, column) for column in columns)) for part, one in getattr(scores, name).items()
        ]
    show_table(("figures of", "", "number", "ast_soft", "ast"), rows)
    if scores.acts is not None:
        show_table(scores.acts._fields[:-1], [scores.acts[:-1]])
        seen = list(dict.fromkeys(act for row in scores.acts.confusion.values() for act in row))
        details = [(act, *(row.get(as_, 0.0) for as_ in seen)) for act, row in scores.acts.confusion.items()]
        show_table(("annotated, predicted as", *seen), details)
    if scores.validity is not None:
        show_table(scores.validity._fields, [scores.validity])
    _tell(scores.problems, "remarks on what was predicted; what can't be read counts as wrong.")


def _path_figures(scoring: "PathScoring") -> dict[str, object]:
    summary = scoring.summary
    parts = {**summary.domains, "overall": summary.overall}
    per_part = ("success", "call_acc", "samples", "succeeded", "correct_calls", "total_calls")
    steps = {name: _named(value) for name, value in summary.steps._asdict().items()}
    return {
        **{name: {part: getattr(figures, name) for part, figures in parts.items()} for name in per_part},
        "completeness": summary.completeness,
        "correctness": summary.correctness,
        "answers": summary.answers,
        "error_types": summary.error_types,
        "errors": summary.errors,
        "value_error_parameters": summary.value_error_parameters,
        "steps": steps,
    }


def _named(value: object) -> object:
    """A count by number as JSON has it: its keys are texts."""
    return {str(key): number for key, number in value.items()} if isinstance(value, Mapping) else value


def _show_paths(scoring: "PathScoring") -> None:
    summary = scoring.summary
    parts = [*summary.domains.items(), ("overall", summary.overall)]
    show_table(
        ("domain", "samples", "succeeded", "success", "call_acc"),
        [(name, one.samples, one.succeeded, one.success, one.call_acc) for name, one in parts],
    )
    if summary.answers:
        show_table(("completeness", "correctness"), [(summary.completeness, summary.correctness)])
    for title, shares in (
        ("error type", summary.error_types),
        ("parameter of a value error", summary.value_error_parameters),
    ):
        if any(shares.values()):
            show_table((title, "share"), shares.items())
    if summary.steps.runs:
        show_table(("steps beyond the shortest", "runs"), summary.steps.extra.items())
        show(f"steps made {summary.steps.mean_made:.2f}, shortest {summary.steps.mean_shortest:.2f}")


def _present(scoring: "Scoring", *, as_json: bool) -> None:
    if as_json:
        show_json({**scoring.figures, **scoring.details, "problems": scoring.problems})
    else:
        width = max(map(len, [*scoring.figures, *scoring.details]))
        for name, value in {**scoring.figures, **scoring.details}.items():
            show(f"{name:{width}}  {value:.6f}" if isinstance(value, float) else f"{name:{width}}  {value}")
    _tell(scoring.problems, "replies could not be scored as a call; they count as wrong.")


def _tell(problems: Sequence[str], what: str) -> None:
    """Say the first problems as progress, under how many there are."""
    if problems:
        say(f"{len(problems)} {what}")
        for problem in problems[:_SHOWN]:
            say(f"  {problem}")
        if len(problems) > _SHOWN:
            say(f"  ... and {len(problems) - _SHOWN} more; --json lists all.")
