"""ComplexFuncBench's metrics over runs that are kept, as a whole and by kind, domain and language (ComplexFuncBench 3).

`success_rate` is the share of runs that completed their task; `call_acc` the right calls among the gold's. `completeness` and
`correctness` are means, from 0 to 2, over the final answers that a judge scored. Runs that went as the paper's published code
goes have `_published` behind the names: the two modes stand beside each other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from callwright.validators.metrics.intervals import Addend, Interval, bounds_of, interval_of
from callwright.warehouse.records import EvalMode, Score, ToolsShown

SLICES = ("kind", "category", "language")
SCORED_TO_2 = ("completeness", "correctness")
METRICS = ("success_rate", "call_acc", *SCORED_TO_2)
_SUFFIX: dict[EvalMode, str] = {"as_paper": "", "as_published_code": "_published"}


class RunResult(NamedTuple):
    """What a run came to, and the slices it counts in: the sample's kind, category (a domain) and language.

    `times` is how many runs came to just this.
    """

    run: int
    kind: str
    category: str
    language: str
    success: bool
    correct_calls: int
    total_calls: int
    completeness: int | None
    correctness: int | None
    times: int = 1


class RunsOf(NamedTuple):
    """Whose runs are scored: the columns that their scores share."""

    release: str
    candidate: str
    mode: EvalMode
    judge: str = ""
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"


def metric_names(mode: EvalMode) -> tuple[str, ...]:
    """The names of the metrics in a mode."""
    return tuple(f"{metric}{_SUFFIX[mode]}" for metric in METRICS)


def score_runs(results: Iterable[RunResult], of: RunsOf) -> list[Score]:
    """The scores of each run number, sorted by slice."""
    cells: dict[tuple[int, str, str], _Sums] = defaultdict(_Sums)
    for result in results:
        cells[result.run, "all", ""].add(result)
        for name in SLICES:
            cells[result.run, name, getattr(result, name)].add(result)
    shared = of._asdict()
    suffix = _SUFFIX[shared.pop("mode")]
    return [
        Score(
            **shared, run=run, slice_by=slice_by, slice_value=slice_value,
            metric=f"{metric}{suffix}", value=total / count, count=count, **bounds_of(sums.interval(metric)),
        )
        for (run, slice_by, slice_value), sums in sorted(cells.items(), key=lambda cell: cell[0])
        for metric, (total, count) in sums.shares.items()
        if count
    ]  # fmt: skip


class _Sums:
    """Each metric over some runs as a sum and what it is divided by."""

    def __init__(self) -> None:
        self.shares = dict.fromkeys(METRICS, (0, 0))
        self._parts: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)

    def interval(self, metric: str) -> Interval | None:
        """Between what a metric lies, over runs."""
        scale = 2 if metric in SCORED_TO_2 else 1
        found = interval_of(
            Addend(total / scale, count, times) for (total, count), times in sorted(self._parts[metric].items())
        )
        return None if found is None else Interval(found.low * scale, found.high * scale)

    def add(self, result: RunResult) -> None:
        """Count a result as often as runs came to it."""
        self._add("success_rate", result.success, 1, result.times)
        self._add("call_acc", result.correct_calls, result.total_calls, result.times)
        for metric, score in (("completeness", result.completeness), ("correctness", result.correctness)):
            if score is not None:
                self._add(metric, score, 1, result.times)

    def _add(self, metric: str, total: int, count: int, times: int) -> None:
        before, whole = self.shares[metric]
        self.shares[metric] = (before + total * times, whole + count * times)
        self._parts[metric][total, count] += times
