"""ComplexFuncBench's metrics over runs that are kept, as a whole and by kind, domain and language (ComplexFuncBench 3).

`success_rate` is the share of runs that completed their task; `call_acc` the right calls among the gold's. `completeness` and
`correctness` are means, from 0 to 2, over the final answers that a judge scored. Runs that went as the paper's published code
goes have `_published` behind the names: the two modes stand beside each other.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from warehouse.records import EvalMode, Score, ToolsShown

SLICES = ("kind", "category", "language")
METRICS = ("success_rate", "call_acc", "completeness", "correctness")
_SUFFIX: dict[EvalMode, str] = {"as_paper": "", "as_published_code": "_published"}


class RunResult(NamedTuple):
    """What a run came to, and the slices it counts in: the sample's kind, category (a domain) and language."""

    run: int
    kind: str
    category: str
    language: str
    success: bool
    correct_calls: int
    total_calls: int
    completeness: int | None
    correctness: int | None


class RunsOf(NamedTuple):
    """Whose runs are scored: the columns that their scores share."""

    release: str
    model: str
    mode: EvalMode
    judge: str = ""
    strategy: Literal["direct", "native"] = "direct"
    tools_shown: ToolsShown = "first"


def metric_names(mode: EvalMode) -> tuple[str, ...]:
    """The names of the metrics in a mode."""
    return tuple(f"{metric}{_SUFFIX[mode]}" for metric in METRICS)


def score_runs(results: Iterable[RunResult], of: RunsOf) -> list[Score]:
    """The scores of each run number, sorted by slice."""
    cells: dict[tuple[int, str, str], list[RunResult]] = defaultdict(list)
    for result in results:
        cells[result.run, "all", ""].append(result)
        for name in SLICES:
            cells[result.run, name, getattr(result, name)].append(result)
    shared = of._asdict()
    suffix = _SUFFIX[shared.pop("mode")]
    return [
        Score(
            **shared, run=run, slice_by=slice_by, slice_value=slice_value,
            metric=f"{metric}{suffix}", value=total / count, count=count,
        )
        for (run, slice_by, slice_value), members in sorted(cells.items())
        for metric, total, count in _sums(members)
        if count
    ]  # fmt: skip


def _sums(results: Sequence[RunResult]) -> Iterator[tuple[str, int, int]]:
    """Each metric as a sum and what it is divided by."""
    yield "success_rate", sum(result.success for result in results), len(results)
    yield "call_acc", sum(one.correct_calls for one in results), sum(one.total_calls for one in results)
    for metric in ("completeness", "correctness"):
        scored = [score for result in results if (score := getattr(result, metric)) is not None]
        yield metric, sum(scored), len(scored)
