"""HammerBench's numbers over its own logs: as the paper computed them, and as the newest release does (EVALUATORS 1.5).

The published code divides by n + 1e-9 here and by n there; both are kept, so that its numbers come out to the digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from validators.metrics.hammerbench_snapshots import LogRow, SnapshotResult, is_refusal, score_snapshot
from validators.metrics.tallies import SnapshotChoice, choose_snapshots, sum_up, tally_conversation
from warehouse.errors import RecordError

if TYPE_CHECKING:
    from validators.replies.reading import Style
    from warehouse.records import Language

_EPSILON = 1e-9

Conversation = Sequence[LogRow]


class LogScores(NamedTuple):
    """The paper's metrics over conversations, as fractions; `problems` names what could not be scored as a call."""

    func_acc: float
    pn_hr: float
    pn_mr: float
    args_acc: float
    pr: float
    sr: float
    rejection_rate: float
    conversations: int
    snapshots: int
    problems: tuple[str, ...] = ()


class FlatScores(NamedTuple):
    """The released code's metrics over single rows, as fractions and means; it calls pn_hr and pn_mr PN_FP and PN_FN."""

    func_acc: float
    pn_hr: float
    pn_mr: float
    args_acc: float
    rejection_rate: float
    string_ratio: float
    mean_hallucinated: float
    mean_missing: float
    rows: int
    problems: tuple[str, ...] = ()


def score_conversations(
    conversations: Sequence[Conversation],
    *,
    choice: SnapshotChoice = "all",
    flags: Sequence[Sequence[bool]] | None = None,
    language: Language = "en",
    style: Style = "default",
) -> LogScores:
    """Score whole conversations (HammerBench 6.1.1); `flags` are a judge's, None scores the arguments by rule.

    Raises RecordError where flags or snapshots do not fit the conversations.
    """
    results = [[score_snapshot(row, language, style) for row in rows] for rows in conversations]
    chosen = choose_snapshots([len(rows) for rows in results], choice)
    total = sum_up(map(tally_conversation, results, _decided(results, flags), chosen))
    return LogScores(
        func_acc=_share(total.opened, total.conversations),
        pn_hr=total.hallucinated / (total.seen + _EPSILON),
        pn_mr=total.missing / (total.seen + _EPSILON),
        args_acc=_share(total.right, total.snapshots),
        pr=total.progress / (total.conversations + _EPSILON),
        sr=total.successes / (total.conversations + _EPSILON),
        rejection_rate=_share(total.refused, total.conversations),
        conversations=total.conversations,
        snapshots=total.snapshots,
        problems=tuple(_problems(results)),
    )


def per_func_acc(scores: LogScores) -> dict[str, float]:
    """The variants "/Func Acc" of the paper's tables: what is left of a metric where the first tool is right."""
    return {
        f"{name}/func_acc": getattr(scores, name) / scores.func_acc if scores.func_acc else 0.0
        for name in ("args_acc", "pr", "sr")
    }


def score_rows(rows: Sequence[LogRow], *, language: Language, style: Style = "default") -> FlatScores:
    """Score rows as the newest release does, one by one; the tool's name is not asked for in `args_acc`."""
    results = [score_snapshot(row, language, style) for row in rows]
    named = [row for row in results if row.tool_right]
    total = len(results)
    return FlatScores(
        func_acc=_share(len(named), total),
        pn_hr=sum(row.hallucinated > 0 for row in named) / (len(named) + _EPSILON),
        pn_mr=sum(row.missing > 0 for row in named) / (len(named) + _EPSILON),
        args_acc=_share(sum(row.arguments_right for row in results), total),
        rejection_rate=_share(sum(row.refused for row in results), total),
        string_ratio=_share(sum(not row.is_call for row in results), total),
        mean_hallucinated=sum(row.hallucinated for row in results) / (total + _EPSILON),
        mean_missing=sum(row.missing for row in results) / (total + _EPSILON),
        rows=total,
        problems=tuple(f"Row {at}: {row.problem}" for at, row in enumerate(results) if row.problem),
    )


def irrelevant_rate(replies: Sequence[str]) -> float:
    """The metric Irrelevant (and IS): the share of replies that say sorry; 0 where there are none."""
    return _share(sum(is_refusal(reply) for reply in replies), len(replies))


def _decided(results: Sequence[Sequence[SnapshotResult]], flags: Sequence[Sequence[bool]] | None) -> list[list[bool]]:
    """Whether each snapshot is right: by rule, or by the judge where tool and parameter names are right too."""
    if flags is None:
        return [[row.arguments_right for row in rows] for rows in results]
    if [len(one) for one in flags] != [len(one) for one in results]:
        raise RecordError(
            f"The judge's flags are for {len(flags)} conversations with {sum(map(len, flags))} snapshots; the log has"
            f" {len(results)} with {sum(map(len, results))}, or cuts them elsewhere."
        )
    return [
        [bool(flag) and row.names_right for flag, row in zip(judged, rows, strict=True)]
        for judged, rows in zip(flags, results, strict=True)
    ]


def _problems(results: Sequence[Sequence[SnapshotResult]]) -> Iterator[str]:
    for at, rows in enumerate(results):
        if not rows:
            yield f"Conversation {at} has no snapshots."
        for index, row in enumerate(rows):
            if row.problem:
                yield f"Conversation {at}, snapshot {index}: {row.problem}"


def _share(count: int, total: int) -> float:
    return count / total if total else 0.0
