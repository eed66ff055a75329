"""HammerBench's numbers over its own logs: as the paper computed them, and as the newest release does (EVALUATORS 1.5).

The published code divides by n + 1e-9 here and by n there; both are kept, so that its numbers come out to the digit.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple

from callwright.language.packs import fallback
from callwright.validators.matching.hammerbench import arguments_match, hallucinated_names, missing_names
from callwright.validators.replies.reading import Style, parse_reply
from callwright.warehouse.errors import RecordError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from callwright.warehouse.records import Language


_EPSILON = 1e-9
_SHOWN = 60
REFUSAL = "sorry"
_PIECES = {"all": slice(None), "first": slice(1), "last": slice(-1, None)}
SnapshotChoice = Literal["all", "first", "last"] | Sequence[Sequence[int]]


class LogRow(NamedTuple):
    """A reply as the model wrote it and the label: an object with `name` and `arguments`, or a refusal's text."""

    predict: JsonValue
    label: JsonValue


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


class SnapshotResult(NamedTuple):
    """What one reply got right; `problem` says why it could not be scored as a call, "" where it could.

    `arguments_exact` says that the values are the label's to the letter, where `arguments_right` lets words differ (Rouge-L).
    `hallucinated` are the names that the label lacks, `undefined` those that the tool's definition lacks, None where no
    definition is at hand.
    """

    tool_right: bool
    arguments_right: bool
    hallucinated: int = 0
    missing: int = 0
    refused: bool = False
    is_call: bool = True
    problem: str = ""
    undefined: int | None = None
    arguments_exact: bool = False

    @property
    def names_right(self) -> bool:
        """Whether the label's tool was called with exactly the label's parameter names: the gate before a judge."""
        return self.tool_right and not self.hallucinated and not self.missing


class ConversationResult(NamedTuple):
    """One conversation: where it first went wrong (None where nowhere), and how far it came."""

    first_wrong: int | None
    progress: float
    success: bool
    right: int


class Tally(NamedTuple):
    """Counts over conversations. `opened` are those whose first tool is right, `seen` the chosen snapshots of these.

    `defined` of the seen have a tool whose definition is known; `undefined` of them give a name that it lacks.
    """

    conversations: int
    opened: int
    refused: int
    snapshots: int
    right: int
    progress: float
    successes: int
    seen: int
    hallucinated: int
    missing: int
    defined: int
    undefined: int
    exact: int = 0


def score_conversations(
    conversations: Sequence[Conversation],
    *,
    choice: SnapshotChoice = "all",
    flags: Sequence[Sequence[bool]] | None = None,
    language: Language | None = None,
    style: Style = "default",
) -> LogScores:
    """Score whole conversations (HammerBench 6.1.1); `flags` are a judge's, None scores the arguments by rule.

    `language` is that of the values, None for the one that stands for all texts that show no other. Raises RecordError
    where flags or snapshots do not fit the conversations.
    """
    spoken = language or fallback()
    results = [[score_snapshot(row, spoken, style) for row in rows] for rows in conversations]
    chosen = choose_snapshots([len(rows) for rows in results], choice)
    total = sum_up(Counter(map(tally_conversation, results, _decided(results, flags), chosen)))
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


def score_snapshot(row: LogRow, language: Language, style: Style = "default") -> SnapshotResult:
    """Hold a reply against its label; what the published code crashes on is a failure with its reason."""
    label = row.label
    if not isinstance(label, dict) or "name" not in label:
        return _failed(row, f"the label {label!r} is no call")
    wanted = label.get("arguments")
    if not isinstance(wanted, dict):
        return _failed(row, f"the label's arguments {wanted!r} are no object")
    if not isinstance(row.predict, str):
        return _failed(row, f"the reply {row.predict!r} is no text", len(wanted))
    parsed = parse_reply(row.predict, style)
    if not parsed.calls:
        problem = parsed.problem or "The reply makes no call."
        return _failed(row, f"{problem} It begins: {row.predict[:_SHOWN]!r}", len(wanted))
    call = parsed.calls[0]
    tool_right = call.tool == label["name"]
    return SnapshotResult(
        tool_right=tool_right,
        arguments_right=arguments_match(wanted, call.arguments, language),
        hallucinated=hallucinated_names(wanted, call.arguments),
        missing=missing_names(wanted, call.arguments),
        refused=not tool_right and is_refusal(f"{call.tool} {call.arguments}"),
    )


def is_refusal(reply: str) -> bool:
    """Whether HammerBench takes a reply as a refusal: it says sorry."""
    return REFUSAL in reply.lower()


def tally_conversation(results: Sequence[SnapshotResult], flags: Sequence[bool], picked: Sequence[int]) -> Tally:
    """Count one conversation at the snapshots `picked`; `flags` say of each of its snapshots whether it is right."""
    opened = bool(results) and results[0].tool_right
    turns = score_turns([flags[index] for index in picked], func_right=opened)
    seen = [results[index] for index in picked] if opened else []
    return Tally(
        conversations=1,
        opened=opened,
        refused=bool(results) and results[0].refused,
        snapshots=len(picked),
        right=turns.right,
        progress=turns.progress,
        successes=turns.success,
        seen=len(seen),
        hallucinated=sum(row.hallucinated > 0 for row in seen),
        missing=sum(row.missing > 0 for row in seen),
        defined=sum(row.undefined is not None for row in seen),
        undefined=sum(bool(row.undefined) for row in seen),
        exact=sum(row.arguments_exact for row in seen),
    )


def sum_up(tallies: Mapping[Tally, int]) -> Tally:
    """The tallies of many conversations as one, each given with how many conversations have it."""
    columns = list(zip(*tallies, strict=True)) or [()] * len(Tally._fields)
    numbers = list(tallies.values())
    totals = {
        name: sum(map(operator.mul, column, numbers)) for name, column in zip(Tally._fields, columns, strict=True)
    }
    # not progress times number, which would be rounded: as if each had been added by itself
    steps = chain.from_iterable(map(repeat, columns[Tally._fields.index("progress")], numbers))
    return Tally(**totals | {"progress": math.fsum(steps)})


def score_turns(flags: Sequence[bool], *, func_right: bool) -> ConversationResult:
    """Progress, success and the number of right snapshots of one conversation, whose first tool is right or not."""
    first_wrong = next((index for index, right in enumerate(flags) if not right), None)
    if not func_right:
        return ConversationResult(first_wrong, 0.0, success=False, right=0)
    progress = 1.0 if first_wrong is None else first_wrong / len(flags)
    return ConversationResult(first_wrong, progress, success=first_wrong is None and bool(flags), right=sum(flags))


def choose_snapshots(lengths: Sequence[int], choice: SnapshotChoice) -> list[list[int]]:
    """The indices of the snapshots to score, one list a conversation; what lies beyond its end is left out.

    Raises RecordError where a list of indices is not as long as the log.
    """
    if isinstance(choice, str):
        return [list(range(length))[_PIECES[choice]] for length in lengths]
    if len(choice) != len(lengths):
        raise RecordError(f"The snapshot list is for {len(choice)} conversations, but the log has {len(lengths)}.")
    return [[at for at in picked if -length <= at < length] for picked, length in zip(choice, lengths, strict=True)]


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


def _failed(row: LogRow, problem: str, missing: int = 0) -> SnapshotResult:
    refused = isinstance(row.predict, str) and is_refusal(row.predict)
    return SnapshotResult(
        tool_right=False, arguments_right=False, missing=missing, refused=refused, is_call=False, problem=problem
    )
