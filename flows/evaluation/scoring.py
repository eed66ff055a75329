"""Scores the papers' own result files: inputs, verdicts and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from callwright.validators.metrics.hammerbench import logs as files
from callwright.validators.metrics.hammerbench.scores import (
    irrelevant_rate,
    per_func_acc,
    score_conversations,
    score_rows,
)
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.validators.metrics.callnavi.answers import Shares
    from callwright.validators.metrics.complexeval.results import Summary
    from callwright.validators.metrics.confetti.scores import ConfettiScores
    from callwright.validators.metrics.confetti.soft import Combining, StringScorer
    from callwright.validators.metrics.hammerbench.logs import Log
    from callwright.validators.metrics.hammerbench.scores import SnapshotChoice, Style
    from callwright.warehouse.records import EvalMode, Language

Verdicts = Literal["flags", "rule"]
MODES = ("all", "first", "last")
SHIFT = "shift"


class Scoring(NamedTuple):
    """Figures by name, the settings behind them, and what could not be scored as a call."""

    figures: dict[str, float | int]
    details: dict[str, str]
    problems: tuple[str, ...] = ()


class PathScoring(NamedTuple):
    """The tables over runs of multi-step samples, and what is odd about their file."""

    summary: Summary
    problems: tuple[str, ...] = ()


def score_logs(
    folders: Sequence[Path],
    *,
    snapshots: str = "all",
    verdicts: Verdicts | None = None,
    language: Language | None = None,
    style: Style = "default",
) -> Scoring:
    """Score the conversations of several logs as one (HammerBench 6.1.1).

    This is a pooled row of its tables. `snapshots` is a mode or a file; `verdicts` are by
    default the judge's if every log has them. Raises ConfigurationError for files that are
    missing or none, RecordError if they do not fit together.
    """
    logs = [files.read_log(folder) for folder in folders]
    spoken = {log.language for log in logs} if language is None else {language}
    if len(spoken) > 1:
        raise ConfigurationError(
            "The logs are in two languages. Score each language separately, or name one with"
            " --language."
        )
    judged = all((log.folder / files.FLAGS).is_file() for log in logs)
    by = verdicts or ("flags" if judged else "rule")
    conversations = [rows for log in logs for rows in log.conversations]
    scores = score_conversations(
        conversations,
        choice=_choice(logs, snapshots),
        flags=(
            [one for log in logs for one in files.read_flags(log.folder)] if by == "flags" else None
        ),
        language=min(spoken),
        style=style,
    )
    figures = {**scores._asdict(), **per_func_acc(scores)}
    del figures["problems"]
    refusals = [
        row.predict if isinstance(row.predict, str) else ""
        for row in files.sorry_labels(conversations)
    ]
    if refusals:
        figures["irrelevant"] = irrelevant_rate(refusals)
    details = {
        "snapshots_scored": snapshots,
        "verdicts": by,
        "language": min(spoken),
        "style": style,
    }
    return Scoring(figures, details, scores.problems)


def score_flat_file(file: Path, language: Language, style: Style = "default") -> Scoring:
    """Score single predictions as the newest release does.

    Raises ConfigurationError if the file holds none.
    """
    figures = score_rows(files.read_rows(file), language=language, style=style)._asdict()
    problems = figures.pop("problems")
    return Scoring(figures, {"language": language, "style": style}, problems)


def score_replies(file: Path, column: str = "") -> Scoring:
    """Return the rate Irrelevant (IS) of a file. Raises ConfigurationError if it has no reply."""
    replies = files.read_replies(file, column)
    return Scoring({"irrelevant": irrelevant_rate(replies), "replies": len(replies)}, {})


def score_complexfuncbench(file: Path, mode: EvalMode) -> PathScoring:
    """Score a file of ComplexFuncBench results.

    Raises ConfigurationError if it holds none, or a row has another form.
    """
    from callwright.validators.metrics.complexeval.results import (
        PUBLISHED_ALL,
        read_results,
        repeated,
        summarise,
    )

    rows = read_results(file)
    problems = [
        f"More than one row has the id {identity!r}; each is counted."
        for identity in repeated(rows)
    ]
    if mode == "as_published_code" and len(rows) < PUBLISHED_ALL:
        problems.append(
            f"The file has {len(rows)} rows. The published code divides by {PUBLISHED_ALL} (150 a"
            " domain, 400 for Cross) all the same; --mode as_paper divides by the rows that there"
            " are."
        )
    return PathScoring(summarise(rows, mode), tuple(problems))


class CallNaviScoring(NamedTuple):
    """CallNavi's shares by figure, the number of questions, and what could not be read."""

    shares: dict[str, Shares]
    questions: int
    problems: tuple[str, ...] = ()


def score_callnavi(
    questions: Path, predictions: Sequence[Path], *, repair: bool = True
) -> CallNaviScoring:
    """Score a folder of predictions; of several runs of one model, the first and the stability.

    Raises ConfigurationError if a folder holds none, or a file has another form.
    """
    from callwright.validators.metrics.callnavi.answers import (
        read_answers,
        read_questions,
        score_answer,
        summarise,
        summarise_stability,
    )

    callnavi_questions = read_questions(questions)
    runs = [read_answers(callnavi_questions, folder) for folder in predictions]
    scores = [score_answer(question, answer, repair=repair) for question, answer in runs[0].pairs]
    shares = summarise(scores)
    if len(runs) > 1:
        shares |= summarise_stability(
            callnavi_questions, [[answer for _, answer in run.pairs] for run in runs]
        )
    unread = [f"{score.id}: {score.problem}" for score in scores if score.problem]
    return CallNaviScoring(
        shares,
        len(callnavi_questions),
        (*(problem for run in runs for problem in run.problems), *unread),
    )


def score_confetti(
    answers: Path,
    predictions: Path,
    *,
    questions: Path | None,
    scorer: StringScorer,
    combining: Combining,
) -> ConfettiScores:
    """Score CONFETTI's predictions.

    Raises ConfigurationError if a file or folder holds none, or a row has another form.
    """
    from callwright.validators.metrics.confetti import scores

    predicted = scores.read_predictions(predictions)
    asked = scores.read_questions(questions)
    return scores.score_confetti(scores.read_answers(answers), predicted, scorer, combining, asked)


def _choice(logs: Sequence[Log], snapshots: str) -> SnapshotChoice:
    """Return the mode, or each log's own list of snapshots, one after another."""
    match snapshots:
        case "all" | "first" | "last":
            return snapshots
        case "shift":
            listed = [(log, files.snapshot_file(log.folder)) for log in logs]
        case _ if len(logs) == 1:
            listed = [(logs[0], Path(snapshots))]
        case _:
            problem = f"{snapshots!r} can list the snapshots of one log, not of {len(logs)}."
            raise ConfigurationError(problem)
    missing = next((file for _, file in listed if not file.is_file()), None)
    if missing is not None:
        raise ConfigurationError(
            f"There is no file {str(missing)!r} that lists snapshots. --snapshots takes"
            f" {', '.join(MODES)}, a file, or {SHIFT} where {files.SNAPSHOTS} lies beside the log."
        )
    chosen: list[list[int]] = []
    for log, file in listed:
        chosen += files.read_snapshot_choice(file, log.folder, log.conversations)
    return chosen
