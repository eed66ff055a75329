"""Metrics as ratios of sums over samples, by run and slice: what is kept are the parts that differ, with how often each came.

Metrics of one's own give an answer a number, of which the mean is kept beside them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import fsum
from statistics import fmean
from typing import Any, NamedTuple

from callwright.validators.metrics.intervals import Addend, Interval, bounds_of, interval_of
from callwright.validators.predictions import CandidateRun, run_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Prediction, Sample, Score
from callwright.warehouse.registry import Registry, raised


class Cell(NamedTuple):
    """A run, and the slice of its answers that a score is over: by what they are told apart, and which ones."""

    run: CandidateRun
    slice_by: str = "all"
    slice_value: str = ""


class Figure(NamedTuple):
    """One metric over some samples, how many things it is a share of, and between what it lies."""

    metric: str
    value: float
    whole: int
    interval: Interval | None = None


class Ratios:
    """Any number of metrics, each what samples add to a sum and to what that is divided by.

    What is counted at a level, such as a difficulty, also makes the metric `…_macro`, the mean of the levels.
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.parts: dict[str, dict[str, Counter[tuple[float, int]]]] = defaultdict(lambda: defaultdict(Counter))

    def count(self, metric: str, met: float, whole: int = 1, *, times: int = 1, level: str = "") -> None:
        """Count what a sample adds, as often as samples add just this."""
        self.parts[metric][level][met, whole] += times

    def add(self, other: "Ratios") -> None:
        """Count what another one has counted."""
        for metric, levels in other.parts.items():
            for level, parts in levels.items():
                self.parts[metric][level].update(parts)

    def figures(self) -> Iterator[Figure]:
        """The metrics of what was counted, by their names; what is a share of nothing has none."""
        for metric, levels in sorted(self.parts.items()):
            every: Counter[tuple[float, int]] = Counter()
            for parts in levels.values():
                every.update(parts)
            whole = _whole(every)
            if whole:
                addends = (Addend(met, of, times) for (met, of), times in sorted(every.items()))
                yield Figure(metric, _ratio(every), whole, interval_of(addends))
            named = [_ratio(parts) for level, parts in sorted(levels.items()) if level and _whole(parts)]
            if named:
                yield Figure(f"{metric}_macro", fmean(named), whole)


def _whole(parts: Mapping[tuple[float, int], int]) -> int:
    return sum(whole * times for (_, whole), times in parts.items())


def _ratio(parts: Mapping[tuple[float, int], int]) -> float:
    return fsum(met * times for (met, _), times in parts.items()) / _whole(parts)


def scores_of(cells: Mapping[Cell, Ratios], *, judge: str = "") -> Iterator[Score]:
    """The scores of all runs and slices, sorted."""
    for cell, ratios in sorted(cells.items(), key=lambda one: one[0]):
        yield from (score_of(cell, figure, judge=judge) for figure in ratios.figures())


def score_of(cell: Cell, figure: Figure, **columns: Any) -> Score:  # noqa: ANN401 - the columns that only some scores have
    """A figure as a score."""
    return Score(
        **cell.run._asdict(), slice_by=cell.slice_by, slice_value=cell.slice_value, metric=figure.metric,
        value=figure.value, count=figure.whole, **bounds_of(figure.interval), **columns,
    )  # fmt: skip


class Metric(NamedTuple):
    """A metric: `score` gives what a candidate answered to a sample a number, None where it says nothing of it."""

    name: str
    about: str
    score: Callable[[Sample, Prediction], float | None]


METRICS = Registry("metrics", Metric, "metric", "metrics")


class OwnScores:
    """The means of all metrics of the table over a candidate's answers, as a whole and by kind, category and language."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._cells: dict[Cell, Ratios] = defaultdict(Ratios)

    def add(self, sample: Sample, predictions: Sequence[Prediction]) -> None:
        """Count what runs have answered to a sample. Raises ConfigurationError where a metric raises."""
        slices = (("all", ""), ("kind", sample.kind), ("category", sample.category), ("language", sample.language))
        for metric, prediction in product(METRICS.rows(), predictions):
            value = _value(metric, sample, prediction)
            if value is not None:
                for where in slices:
                    self._cells[Cell(run_of(prediction), *where)].count(metric.name, value)

    def scores(self) -> Iterator[Score]:
        """A score for each run, metric and slice."""
        return scores_of(self._cells)


def _value(metric: Metric, sample: Sample, prediction: Prediction) -> float | None:
    try:
        value = metric.score(sample, prediction)
    except Exception as error:  # others' code may raise anything
        raise ConfigurationError(
            f"Your metric {metric.name!r} raised {raised(error)}. What was answered is kept."
        ) from error
    if value is None or isinstance(value, int | float):
        return value
    raise ConfigurationError(f"Your metric {metric.name!r} gave {value!r}; it must give a number, or None.")
