"""Counting over conversations: what the metrics of logs and of our own predictions are shares of (HammerBench 6.1.1)."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple

from warehouse.errors import RecordError

if TYPE_CHECKING:
    from validators.metrics.hammerbench_snapshots import SnapshotResult

SnapshotChoice = Literal["all", "first", "last"] | Sequence[Sequence[int]]
_PIECES = {"all": slice(None), "first": slice(1), "last": slice(-1, None)}


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
    )


def sum_up(tallies: Iterable[Tally]) -> Tally:
    """The tallies of many conversations as one, the same in any order."""
    return sum_up_counted(Counter(tallies))


def sum_up_counted(tallies: Mapping[Tally, int]) -> Tally:
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
