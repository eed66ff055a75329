"""Candidate models: `evaluate` on a release, and `score` on the papers' own result files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from callwright.flows.api.options import EvaluationOptions
from callwright.flows.cli.screen import (
    Aside,
    CommandResult,
    TextTable,
    command,
    commands,
    first_lines,
    run_shown,
    say,
    show,
    table_of,
)
from callwright.flows.options import Option
from callwright.flows.settings import open_warehouse, read_settings
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.api.evaluating import Evaluation
    from callwright.flows.evaluation.evaluating import ForeseenEvaluation
    from callwright.flows.evaluation.gate import GateResult
    from callwright.validators.metrics.confetti.scores import ConfettiScores
    from callwright.warehouse.rows import Row

app = commands()
score = commands("Score the result files of the papers' own runs.")
app.add_typer(score, name="score")

_SHARES = ("easy", "medium", "hard", "overall", "macro")
_MOST_PROBLEMS = 10


@command(
    app,
    "evaluate",
    "evaluate v1 --model template/v1 --model PROVIDER/MODEL",
    begins="Reading the release",
)
def evaluate(
    release: str,
    *,
    model: Sequence[str] = (),
    recipe: Path | None = None,
    dry_run: bool = False,
    fail_under: Annotated[Sequence[str], Option(metavar="METRIC=NUMBER")] = (),
    fail_over: Annotated[Sequence[str], Option(metavar="METRIC=NUMBER")] = (),
    against: Annotated[str, Option(metavar="NAME or NAME~STRATEGY")] = "",
    worse_by: Annotated[float, Option(least=0, most=1)] = 0.0,
    p: Annotated[float, Option(least=0, most=1)] = 0.05,
    junit: Path | None = None,
    summary: Path | None = None,
    **options: Unpack[EvaluationOptions],
) -> CommandResult:
    """Evaluate models on a release.

    Candidates are asked for the calls that are due, and their answers are scored. Multi-step
    samples are run to their end, with each call answered. The exit code is 1 if a candidate misses
    what --fail-under, --fail-over or --against demand.

    Args:
        release: The release to evaluate on.
        model: A candidate: a model by its litellm name, or a Python function (agent.py:answer).
            Repeatable.
        recipe: Evaluate the candidates of this recipe.
        dry_run: Say how many requests would be sent and which samples changed tools affect. Send
            none.
        fail_under: Fail if this figure is lower. Repeatable.
        fail_over: Fail if this figure is higher. Repeatable.
        against: Fail if a candidate is worse than this one on the samples that both have answered.
        worse_by: With --against, the smallest drop in the share of passed samples that counts as
            worse.
        p: With --against, the largest p value (McNemar's test) at which a difference counts.
        junit: Write JUnit XML to this file, with a test case for each sample.
        summary: Write a Markdown summary to this file, such as $GITHUB_STEP_SUMMARY.
    """
    from callwright.flows.api.evaluating import evaluate as evaluate_candidates
    from callwright.flows.api.evaluating import foresee_evaluation
    from callwright.flows.evaluation.evaluation_run import choose_candidates, label_of
    from callwright.flows.evaluation.gate import read_bounds, require_known, require_metrics

    candidates = choose_candidates(model, recipe)
    under, over = (read_bounds(fail_under, "--fail-under"), read_bounds(fail_over, "--fail-over"))
    require_metrics([*under, *over])
    if against:
        require_known(
            open_warehouse(read_settings()), release, against, [label_of(one) for one in candidates]
        )
    if dry_run:
        return _foreseen_text(foresee_evaluation(release, candidates, **options))

    found = run_shown(
        "evaluate-models",
        release,
        lambda progress: evaluate_candidates(release, candidates, **options, progress=progress),
    )
    if found.split:
        say(f"The figures are for the split {found.split!r} of {found.release} only.")
    warehouse = open_warehouse(read_settings())
    with warehouse.reading_together():  # it stays open for all that is read of it here
        gate = found.gate(under, fail_over=over, against=against, worse_by=worse_by, p=p)
        if junit:
            gate.write_junit(junit)
        if summary:
            gate.write_summary(summary)
        return CommandResult(
            _boards_value(found, gate), [*_boards_text(found, gate)], code=int(not gate.passed)
        )


def _foreseen_text(found: "ForeseenEvaluation") -> CommandResult:
    changed = [
        {
            "tool": one.tool.name,
            "language": one.tool.language,
            "shown as": one.shown.name,
            "changed": ", ".join(word.what for word in one.changed),
        }
        for one in found.changed
    ]
    touched = f" {found.touched} of them with a changed tool;" if changed else ""
    words = (
        f"{count_of(found.candidates, 'candidate')} would be asked about"
        f" {count_of(found.samples, 'sample')} of {found.release} each,{touched} with at least"
        f" {count_of(found.requests, 'request')}, minus those answered before."
    )
    return CommandResult(
        found._asdict() | {"changed": changed},
        [words, *([table_of(changed, [*changed[0]])] if changed else [])],
    )


_OF_METRICS = ("metric", "judge", "before", "after", "difference", "low", "high")
_OF_TOOLS = ("tool", "shown_name", "changed", "samples", "better", "worse", "difference", "p_value")
_MOST_PAIRS = 12


def _changes_text(found: "Evaluation") -> "Iterator[str | TextTable]":
    """Yield the effect of changed tools per candidate: overall, by metric, by tool, confusions."""
    from callwright.warehouse.browsing import effect_sentence

    for candidate_change in found.changed_tools:
        if candidate_change.whole is None:
            yield (
                f"{candidate_change.candidate} has not been asked with the original tools, so there"
                " is nothing to compare with. Run the same command with --both, or without"
                " --tools."
            )
            continue
        yield (
            f"{candidate_change.candidate}, {candidate_change.strategy}:"
            f" {effect_sentence(candidate_change.whole)}"
        )
        yield table_of([row for row in candidate_change.metrics if row["difference"]], _OF_METRICS)
        told = [
            row
            for row in candidate_change.by_tool
            if row["changed"] or row["better"] or row["worse"]
        ]
        rows = [row | {"changed": ", ".join(row["changed"])} for row in told]
        yield table_of(rows, _OF_TOOLS, [name.replace("_", " ") for name in _OF_TOOLS])
        if pairs := candidate_change.confusions[:_MOST_PAIRS]:
            columns = ("due_tool", "called_tool", "before", "after")
            yield table_of(pairs, columns, ("due", "called in its place", *columns[2:]))


def _boards_value(found: "Evaluation", gate: "GateResult") -> "list[Row]":
    """Return the leaderboard, each row with its domains, answers, gate and changed tools."""
    by_run = ("candidate", "run", "judge", "strategy")
    more: dict[str, tuple[list[Row], Sequence[str]]] = {
        "domains": (found.domains, by_run),
        "answers": (found.answers, (*by_run, "tools_shown")),
        "gate": ([one._asdict() for one in gate.demands], ("candidate", "strategy")),
        "changed_tools": (
            [one._asdict() for one in found.changed_tools],
            ("candidate", "strategy", "tools_shown"),
        ),
    }
    return [
        row
        | {
            name: [one for one in rows if all(one[at] == row[at] for at in of)]
            for name, (rows, of) in more.items()
        }
        for row in found.leaderboard
    ]


def _boards_text(found: "Evaluation", gate: "GateResult") -> "Iterator[str | TextTable]":
    from callwright.language.packs import packaged

    shown = packaged("callwright.flows.cli", "boards.yaml")
    columns, heads = shown["boards"], shown["heads"]
    rows, answers = found.leaderboard, found.answers
    plans = [row for row in answers if row["n_plans"]]
    conversations = [row for row in answers if row["n_call_turns"] and row["slice_by"] == "all"]
    others = found.domains or plans or conversations
    boards = {
        "snapshots": [
            row
            for row in rows
            if row["args_acc"] is not None or row["irrelevant"] is not None or not others
        ],
        "runs": found.domains,
        "users": [row for row in found.domains if row["mean_user_turns"] is not None],
        "faults": [
            row for row in rows if any(row[one] is not None for one in columns["faults"][4:])
        ],
        "policies": [row for row in rows if row["policy_violations"] is not None],
        "plans": plans,
        "conversations": conversations,
        "grades": [row for row in answers if row["judge"]],
        "cost": [row for row in rows if not row["judge"]],
    }
    for name, board in boards.items():
        if board or name == "cost" or (name == "snapshots" and not others):
            yield table_of(
                board,
                columns[name],
                [heads.get(one, one.replace("_", " ")) for one in columns[name]],
            )
    yield from _changes_text(found)
    if gate.demands:
        demands = [(*one[:-1], "passed" if one.passed else "failed") for one in gate.demands]
        yield TextTable(("candidate", "strategy", "demand", "value", "bound", "p", "gate"), demands)


@command(
    score,
    "hammerbench",
    "score hammerbench --logs gpt4o_logs/mQmA; with --logs SO_case1 --logs SO_case2 --snapshots"
    " shift both are scored as one, where values are overridden; with --predictions log.json"
    " --language en as the newest release does.",
)
def score_hammerbench(
    *,
    logs: Sequence[Path] = (),
    predictions: Path | None = None,
    irrelevant: Path | None = None,
    snapshots: Annotated[str, Option(metavar="all|first|last|shift|FILE")] = "all",
    verdicts: Literal["flags", "rule"] | None = None,
    language: Annotated[str | None, Option(metavar="CODE")] = None,
    style: Literal["default", "mistral", "xlam", "toolace", "lenient"] = "default",
    column: str = "",
) -> CommandResult:
    """Score HammerBench's result files with the metrics of its paper, as fractions.

    Args:
        logs: A folder with MT_res.json. Repeatable; all conversations are scored together.
        predictions: A JSON list of single predictions with their labels, as in the newest release.
        irrelevant: Replies to requests that no tool fits, as CSV or a JSON list.
        snapshots: Which snapshots of the logs to score. A file lists them; shift uses each log's
            own snapshot_id.json.
        verdicts: Verdicts of the judge in turn_flags_res.json (flags), or by rule. Default: flags
            if there are any.
        language: The language of the values. Logs state it themselves.
        style: How the model writes its calls.
        column: The column or field of --irrelevant with the replies.
    """
    from callwright.flows.evaluation.scoring import score_flat_file, score_logs, score_replies
    from callwright.language.packs import known, of

    if [bool(logs), bool(predictions), bool(irrelevant)].count(True) != 1:
        raise ConfigurationError(
            "Name exactly one thing to score: --logs DIR, --predictions FILE or --irrelevant FILE."
        )
    if language is not None:
        of(language)  # a language that is not there is refused before anything is read
    if predictions:
        if language is None:
            raise ConfigurationError(
                f"Values are compared by language. Name it with --language: {', '.join(known())}."
            )
        scoring = score_flat_file(predictions, language, style)
    elif irrelevant:
        scoring = score_replies(irrelevant, column)
    else:
        scoring = score_logs(
            logs, snapshots=snapshots, verdicts=verdicts, language=language, style=style
        )
    figures = {**scoring.figures, **scoring.details}
    unread = "replies could not be scored as a call; they count as wrong."
    show(_problems_text(scoring.problems, unread))
    width = max(map(len, figures))
    texts = {
        name: f"{value:.6f}" if isinstance(value, float) else value
        for name, value in figures.items()
    }
    lines = [f"{name:{width}}  {text}" for name, text in texts.items()]
    return CommandResult(figures | {"problems": scoring.problems}, lines)


@command(score, "complexfuncbench", "score complexfuncbench --results results.jsonl --json")
def score_results(
    *, results: Path, mode: Literal["as_published_code", "as_paper"] = "as_published_code"
) -> CommandResult:
    """Score ComplexFuncBench's result files.

    The figures are success, call accuracy, answers, errors and steps, as fractions.

    Args:
        results: The rows of an evaluation, as JSON lines or a JSON list.
        mode: Divide success as the published code does (by 150, 400 and 1000), or by the number of
            rows.
    """
    from callwright.flows.evaluation.scoring import score_complexfuncbench

    scoring = score_complexfuncbench(results, mode)
    summary = scoring.summary
    parts = {**summary.domains, "overall": summary.overall}
    per_part = ("success", "call_acc", "samples", "succeeded", "correct_calls", "total_calls")
    named = (
        "completeness",
        "correctness",
        "answers",
        "error_types",
        "errors",
        "value_error_parameters",
    )
    value: dict[str, object] = {
        **{
            name: {part: getattr(figures, name) for part, figures in parts.items()}
            for name in per_part
        },
        **{name: getattr(summary, name) for name in named},
        "steps": summary.steps,
        "mode": mode,
        "problems": scoring.problems,
    }
    columns = ("samples", "succeeded", "success", "call_acc")
    rows = [
        (part, *(getattr(figures, name) for name in columns)) for part, figures in parts.items()
    ]
    text: list[str | TextTable] = [TextTable(("domain", *columns), rows)]
    if summary.answers:
        text.append(table_of([summary], ("completeness", "correctness")))
    for title, shares in (
        ("error type", summary.error_types),
        ("parameter of a value error", summary.value_error_parameters),
    ):
        if any(shares.values()):
            text.append(TextTable((title, "share"), [*shares.items()]))
    if summary.steps.runs:
        text.append(TextTable(("steps beyond the shortest", "runs"), summary.steps.extra.items()))
        text.append(
            f"steps made {summary.steps.mean_made:.2f}, shortest {summary.steps.mean_shortest:.2f}"
        )
    return CommandResult(value, [*text, *map(Aside, scoring.problems)])


@command(
    score, "callnavi", "score callnavi --questions callnavi/Questions --predictions answers --json"
)
def score_answers(
    *, questions: Path, predictions: Sequence[Path], repair: Literal["rules", "none"] = "rules"
) -> CommandResult:
    """Score CallNavi's predictions.

    The figures are syntax, routing, structure and AST match by difficulty, as fractions.

    Args:
        questions: The folder with the questions, one DOMAIN.json for each domain.
        predictions: The folder with the predictions, one DOMAIN.json for each domain: a list of
            {"predict": ...}. Repeat it for further runs of the same model: the first is scored, and
            stability is measured over all.
        repair: Read answers that are not JSON by rules (the paper uses a model), or count them as
            wrong.
    """
    from callwright.flows.evaluation.scoring import score_callnavi

    scoring = score_callnavi(questions, predictions, repair=repair == "rules")
    rows = [
        (name, *(getattr(shares, part) for part in _SHARES))
        for name, shares in scoring.shares.items()
    ]
    value = {
        **scoring.shares,
        "questions": scoring.questions,
        "repair": repair,
        "problems": scoring.problems,
    }
    lines = _problems_text(
        scoring.problems, "remarks on the predictions; an unreadable prediction counts as wrong."
    )
    return CommandResult(value, [TextTable(("figure", *_SHARES), rows), *lines])


@command(score, "confetti", "score confetti --answers possible_answer --predictions result --json")
def score_turns(
    *,
    answers: Path,
    predictions: Path,
    questions: Path | None = None,
    scorer: Literal["meaning", "words", "rouge", "exact", "alignscore"] = "meaning",
    weights: Path | None = None,
    combine: Literal["mean", "product", "least"] = "mean",
    partial: bool = False,
) -> CommandResult:
    """Score CONFETTI's predictions turn by turn.

    The figures are soft AST, chains, dialogue acts and validity, as fractions.

    Args:
        answers: The folder with CONFETTI's accepted calls and dialogue acts.
        predictions: A file or folder of rows with "id" and "result", as BFCL writes them.
        questions: The question files, with tools and turns, if there are any.
        scorer: How the similarity of two texts is measured.
        weights: The checkpoint of AlignScore.
        combine: How the score of a call is computed from those of its parameters.
        partial: Score a missing or unexpected parameter as 0, not the whole call.
    """
    from callwright.flows.evaluation.scoring import score_confetti
    from callwright.validators.metrics.confetti.soft import Combining, open_scorer

    scores = score_confetti(
        answers,
        predictions,
        questions=questions,
        scorer=open_scorer(scorer, weights),
        combining=Combining(combine, whole=not partial),
    )
    switches = {"scorer": scorer, "combine": combine, "partial": partial}
    return CommandResult(scores._asdict() | switches, _confetti_text(scores))


def _confetti_text(scores: "ConfettiScores") -> Iterator[str | TextTable]:
    columns = ("chains", "ast_soft", "ast")
    rows: list[tuple[object, ...]] = [
        ("calls", "", scores.calls, scores.ast_soft, scores.ast),
        ("chains", "", scores.chains, scores.ast_soft_chains, scores.ast_chains),
    ]
    for name in ("by_chain_length", "by_user_turns", "by_tools"):
        parts = table_of([*getattr(scores, name).values()], columns).rows
        rows += [(name, part, *row) for part, row in zip(getattr(scores, name), parts, strict=True)]
    yield TextTable(("figures of", "", "number", "ast_soft", "ast"), rows)
    if scores.acts is not None:
        yield TextTable(scores.acts._fields[:-1], [scores.acts[:-1]])
        seen = list(dict.fromkeys(act for row in scores.acts.confusion.values() for act in row))
        details = [
            (act, *(row.get(as_, 0.0) for as_ in seen))
            for act, row in scores.acts.confusion.items()
        ]
        yield TextTable(("annotated, predicted as", *seen), details)
    if scores.validity is not None:
        yield TextTable(scores.validity._fields, [scores.validity])
    yield from _problems_text(
        scores.problems, "remarks on the predictions; an unreadable prediction counts as wrong."
    )


def _problems_text(problems: Sequence[str], what: str) -> Iterator[Aside]:
    """Yield a count of the problems and the first of them, for stderr."""
    if problems:
        yield Aside(f"{len(problems)} {what}")
        yield from map(Aside, first_lines((f"  {problem}" for problem in problems), _MOST_PROBLEMS))
