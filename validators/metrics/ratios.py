"""Metrics as ratios of sums over samples, by run and slice.

Only the parts that differ are kept, with how often each came.

A ratio lies between the bounds of a 95 % interval over samples: Wilson's for plain shares, else a
bootstrap that draws samples anew. What counts alike is one part with the number of times it came:
drawing parts by a multinomial is drawing samples one by one, and takes as long for a million
samples as for a hundred. The draws have a fixed seed: the same answers give the same interval.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import Prediction, Score, ToolsShown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RESAMPLES = 1000
CONFIDENCE = 0.95
_SEED = 20_261_122
_AT_ONCE = 2_000_000  # numbers drawn at once


class Interval(NamedTuple):
    """The bounds of an interval around a metric."""

    low: float
    high: float


def bounds_of(interval: Interval | None) -> dict[str, float | None]:
    """Return the bounds by the names of a score's fields."""
    return dict.fromkeys(Interval._fields) if interval is None else interval._asdict()


class Addend(NamedTuple):
    """What each of `times` samples adds to a metric: `met` to its sum, `whole` to its divisor."""

    met: float
    whole: float
    times: int = 1


def share_interval(met: float, whole: int) -> Interval:
    """Return the interval of a share of `whole` independent things (Wilson)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = met / whole
    centre = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = (
        z / (1 + z * z / whole) * (share * (1 - share) / whole + z * z / (4 * whole * whole)) ** 0.5
    )
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def interval_of(parts: Iterable[Addend]) -> Interval | None:
    """Return the interval of a ratio of sums over samples, or None if nothing counts."""
    [interval] = intervals_of([list(parts)])
    return interval


def intervals_of(metrics: Sequence[Sequence[Addend]]) -> list[Interval | None]:
    """Return the intervals of several metrics, whose parts follow the same samples in order."""
    drawn: dict[tuple[int, ...], npt.NDArray[np.float64]] = {}
    return [_interval(parts, drawn) for parts in metrics]


class PairedTest(NamedTuple):
    """McNemar's exact test on the items that only one of two contestants gets right."""

    differing: int
    p_value: float


def difference_intervals(
    metrics: Sequence[tuple[Sequence[Addend], Sequence[Addend]]],
) -> list[Interval | None]:
    """Return the intervals of differences between ratios over the same samples.

    Both parts of a sample are drawn together. For each metric come the parts that are subtracted
    and those that they are subtracted from, one per sample.
    """
    weights = _draw((1,) * len(metrics[0][0])) if metrics and metrics[0][0] else None
    return [
        None if weights is None else _difference(before, after, weights)
        for before, after in metrics
    ]


def _difference(
    before: Sequence[Addend], after: Sequence[Addend], weights: npt.NDArray[np.float64]
) -> Interval | None:
    import numpy as np

    sums_before, sums_after = (
        [
            weights @ np.array([getattr(part, name) for part in parts], dtype=float)
            for name in ("met", "whole")
        ]
        for parts in (before, after)
    )
    counted = (sums_before[1] > 0) & (sums_after[1] > 0)
    if not counted.any():
        return None
    return _middle(
        sums_after[0][counted] / sums_after[1][counted]
        - sums_before[0][counted] / sums_before[1][counted]
    )


def _middle(values: npt.NDArray[np.float64]) -> Interval:
    """Return the interval that contains most of the values."""
    import numpy as np

    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def paired_test(only_one: int, only_other: int) -> PairedTest:
    """Return how likely equal contestants differ this much (McNemar's test, exact binomial)."""
    require_extra("build")
    from scipy.stats import binomtest

    differing = only_one + only_other
    return PairedTest(differing, float(binomtest(only_one, differing).pvalue) if differing else 1.0)


def _interval(
    parts: Sequence[Addend], drawn: dict[tuple[int, ...], npt.NDArray[np.float64]]
) -> Interval | None:
    import numpy as np

    samples = sum(part.times for part in parts if part.whole)
    if not samples:
        return None
    met, whole = (
        sum(getattr(part, name) * part.times for part in parts) for name in ("met", "whole")
    )
    if all(part.whole in {0, 1} and part.met in {0, 1} for part in parts) or met in {0, whole}:
        # where all are alike, a bootstrap would see no doubt
        return share_interval(met * samples / whole, samples)
    times = tuple(part.times for part in parts)
    if times not in drawn:
        drawn[times] = _draw(times)
    weights = drawn[times]
    over = weights @ np.array([part.whole for part in parts], dtype=float)
    return _middle(
        (weights @ np.array([part.met for part in parts], dtype=float))[over > 0] / over[over > 0]
    )


def _draw(times: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return how often each part is drawn in each of the resamples."""
    import numpy as np

    random = np.random.default_rng(_SEED)
    shares = np.array(times, dtype=float) / sum(times)
    resamples = max(100, min(RESAMPLES, _AT_ONCE // len(times)))
    return random.multinomial(sum(times), shares, size=resamples).astype(float)


class CandidateRun(NamedTuple):
    """One run of one candidate over one release; `run` counts repetitions of the same."""

    release: str
    candidate: str
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0


def run_of(prediction: Prediction) -> CandidateRun:
    """Return the run that a prediction belongs to."""
    return CandidateRun(
        prediction.release,
        prediction.candidate,
        prediction.strategy,
        prediction.tools_shown,
        prediction.run,
    )


def by_run(predictions: Iterable[Prediction]) -> dict[CandidateRun, list[Prediction]]:
    """Predictions by the run that they belong to."""
    found: dict[CandidateRun, list[Prediction]] = defaultdict(list)
    for one in predictions:
        found[run_of(one)].append(one)
    return found


class Cell(NamedTuple):
    """A run, and the slice of its answers that a score covers, by property and value."""

    run: CandidateRun
    slice_by: str = "all"
    slice_value: str = ""


class Figure(NamedTuple):
    """One metric over some samples, the number of things it is a share of, and its interval."""

    metric: str
    value: float
    whole: int
    interval: Interval | None = None


class Ratios:
    """Any number of metrics, each given by what samples add to its numerator and denominator.

    A metric counted by level, such as difficulty, also gives `…_macro`, the mean over the
    levels.
    """

    def __init__(self) -> None:
        """Start without counts."""
        self.parts: dict[str, dict[str, Counter[tuple[float, int]]]] = defaultdict(
            lambda: defaultdict(Counter)
        )

    def count(
        self, metric: str, met: float, whole: int = 1, *, times: int = 1, level: str = ""
    ) -> None:
        """Count what a sample adds to a metric, `times` times."""
        self.parts[metric][level][met, whole] += times

    def add(self, other: Ratios) -> None:
        """Add the counts of another object."""
        for metric, levels in other.parts.items():
            for level, parts in levels.items():
                self.parts[metric][level].update(parts)

    def addends(self) -> dict[str, Addend]:
        """What all that was counted adds to each metric."""
        return {
            metric: Addend(
                sum(met * n for parts in levels.values() for (met, _), n in parts.items()),
                sum(map(_whole, levels.values())),
            )
            for metric, levels in self.parts.items()
        }

    def figures(self) -> Iterator[Figure]:
        """Yield the counted metrics by name, leaving out any that is a share of nothing."""
        for metric, levels in sorted(self.parts.items()):
            every: Counter[tuple[float, int]] = Counter()
            for parts in levels.values():
                every.update(parts)
            whole = _whole(every)
            if whole:
                addends = (Addend(met, of, times) for (met, of), times in sorted(every.items()))
                yield Figure(metric, _ratio(every), whole, interval_of(addends))
            named = [
                _ratio(parts) for level, parts in sorted(levels.items()) if level and _whole(parts)
            ]
            if named:
                yield Figure(f"{metric}_macro", fmean(named), whole)


def _whole(parts: Mapping[tuple[float, int], int]) -> int:
    return sum(whole * times for (_, whole), times in parts.items())


def _ratio(parts: Mapping[tuple[float, int], int]) -> float:
    return fsum(met * times for (met, _), times in parts.items()) / _whole(parts)


def scores_of(cells: Mapping[Cell, Ratios], *, judge: str = "") -> Iterator[Score]:
    """Yield the scores of all runs and slices, sorted."""
    for cell, ratios in sorted(cells.items(), key=lambda one: one[0]):
        yield from (score_of(cell, figure, judge=judge) for figure in ratios.figures())


def score_of(cell: Cell, figure: Figure, **columns: Any) -> Score:  # noqa: ANN401 - the columns that only some scores have
    """Return a figure as a score."""
    return Score(
        **cell.run._asdict(),
        slice_by=cell.slice_by,
        slice_value=cell.slice_value,
        metric=figure.metric,
        value=figure.value,
        count=figure.whole,
        **bounds_of(figure.interval),
        **columns,
    )
