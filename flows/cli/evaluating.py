"""`evaluate`: candidate models on a release."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callwright.flows.cli.screen import AsJson, Terminal, say, show_json, show_table
from callwright.validators.metrics.complexeval.rules import TURN_LIMIT
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.api.evaluating import Evaluation
    from callwright.warehouse.rows import Row

# What a terminal has room for, under shorter heads; --json has all columns.
_SHOWN = {
    "candidate": "candidate", "strategy": "strategy", "tools_shown": "all tools", "run": "run", "judge": "judge",
    "func_acc": "func_acc",
    "args_acc": "args_acc", "pn_hr": "pn_hr", "pn_mr": "pn_mr", "pr": "pr", "sr": "sr", "irrelevant": "irrelevant",
    "intent_shift": "IS", "predictions": "predictions",
}  # fmt: skip
_SHOWN_OF_RUNS = (
    "candidate", "strategy", "run", "judge", "mode", "domain", "success_rate", "call_acc", "completeness", "correctness", "runs",
    "steps", "shortest",
)  # fmt: skip
_SHOWN_OF_PLANS = {
    "candidate": "candidate", "strategy": "strategy", "run": "run", "slice_value": "difficulty", "syntax_validity": "syntax",
    "syntax_validity_repaired": "repaired", "routing": "routing", "structure": "structure", "ast": "ast",
    "ast_macro": "ast macro", "invented": "invented", "election_stability": "election",
    "levenshtein_stability": "levenshtein", "plans": "plans",
}  # fmt: skip
_SHOWN_OF_CONVERSATIONS = {
    "candidate": "candidate", "strategy": "strategy", "run": "run", "ast_soft": "ast soft", "ast_strict": "ast strict",
    "ast_soft_chains": "chains soft", "ast_strict_chains": "chains strict", "act_accuracy": "acts",
    "invented": "invented", "election_stability": "election", "call_turns": "call turns",
}  # fmt: skip
_SHOWN_OF_GRADES = {
    "candidate": "candidate", "strategy": "strategy", "run": "run", "judge": "judge", "slice_value": "difficulty",
    "judge_score": "judge score", "judge_score_macro": "macro", "graded_plans": "plans",
    "parameter_validity": "parameter validity", "judged_parameters": "parameters",
}  # fmt: skip


_SHOWN_OF_COST = {
    "candidate": "candidate", "strategy": "strategy", "tools_shown": "all tools", "run": "run", "predictions": "predictions",
    "multi_step_runs": "multi-step runs", "cost": "US dollars", "median_latency": "seconds a request",
    "metric_is_right": "metric is right",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("evaluate", epilog="Example: callwright evaluate v1 --model template/v1 --model PROVIDER/MODEL")(
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
            help="Score also by the verdicts of this model: whether other words in a call mean the same, how near plans come to"
            " the due ones, which parameters conversations bear out; in multi-step samples also how complete and how"
            " correct final answers are."
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
    strategy: Annotated[
        str,
        typer.Option(
            help="How candidates are asked: direct (for the calls at once, in a prompt), native (as their provider's own tool"
            " calling), route_then_fill (for the tools first and then, with these only, for the arguments), backward (for the"
            " last call first and then for what must come before it). Each is kept apart."
        ),
    ] = "direct",
    router: Annotated[
        str,
        typer.Option(help="By route_then_fill: the model that chooses the tools; the candidate itself unless given."),
    ] = "",
    format: Annotated[  # noqa: A002 - the option's name
        Literal["json", "yaml"], typer.Option(help="The notation of the tools shown and of the answers.")
    ] = "json",
    split: Annotated[
        str, typer.Option(help="Ask about the samples of this split of the release only, such as test.")
    ] = "",
    resume: Annotated[
        bool,
        typer.Option(
            help="Take up the last evaluation of the release, which was cut off: its candidates, its switches."
        ),
    ] = False,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before this command has spent so many US dollars.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask candidate models for the calls that are due, drive them through multi-step samples, and score both."""
    from callwright.flows.api.evaluating import evaluate as evaluate_candidates
    from callwright.flows.evaluation.evaluation_run import choose_candidates

    if resume and (model or recipe):
        raise ConfigurationError("--resume takes the candidates of what was cut off: leave out --model and --recipe.")
    candidates = [] if resume else choose_candidates(model or [], recipe)
    with Terminal() as screen:
        found = evaluate_candidates(
            release, candidates, runs=runs, split=split, strategy=strategy, router=router, format=format, tools=tools,
            judge=judge, complexeval=complexeval, turns=turns, budget=budget, resume=resume, progress=screen,
        )  # fmt: skip
    _show_boards(found, as_json=as_json)


def _show_boards(found: "Evaluation", *, as_json: bool) -> None:
    if found.split:
        say(f"The figures are over the split {found.split!r} of {found.release} alone.")
    rows, domains, answers = found.leaderboard, found.domains, found.answers
    if as_json:
        domains_of, answers_of = _by_columns(domains, _DOMAIN_OF), _by_columns(answers, _ANSWER_OF)
        show_json(
            [
                row
                | {"domains": domains_of.get(_columns(row, _DOMAIN_OF), [])}
                | {"answers": answers_of.get(_columns(row, _ANSWER_OF), [])}
                for row in rows
            ]
        )
        return
    plans = [row for row in answers if row["plans"]]
    conversations = [row for row in answers if row["call_turns"] and row["slice_by"] == "all"]
    grades = [row for row in answers if row["judge"]]
    others = domains or plans or conversations
    snapshots = [row for row in rows if row["args_acc"] is not None or row["irrelevant"] is not None or not others]
    if snapshots or not others:
        show_table(list(_SHOWN.values()), [[row[column] for column in _SHOWN] for row in snapshots])
    if domains:
        show_table(_SHOWN_OF_RUNS, [[row[column] for column in _SHOWN_OF_RUNS] for row in domains])
    for shown, board in (
        (_SHOWN_OF_PLANS, plans),
        (_SHOWN_OF_CONVERSATIONS, conversations),
        (_SHOWN_OF_GRADES, grades),
    ):
        if board:
            show_table(list(shown.values()), [[row[column] for column in shown] for row in board])
    asked = [row for row in rows if not row["judge"]]
    show_table(list(_SHOWN_OF_COST.values()), [[row[column] for column in _SHOWN_OF_COST] for row in asked])


_DOMAIN_OF = ("candidate", "run", "judge", "strategy")
_ANSWER_OF = (*_DOMAIN_OF, "tools_shown")


def _columns(row: "Row", names: Sequence[str]) -> tuple[object, ...]:
    return tuple(row[name] for name in names)


def _by_columns(rows: "Sequence[Row]", names: Sequence[str]) -> "dict[tuple[object, ...], list[Row]]":
    """The rows by their values in these columns."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(_columns(row, names), []).append(row)
    return found
