"""Metrics of one's own: each gives an answer a number, of which the mean is kept beside our own metrics, by slice."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from callwright.validators.metrics.ratios import Cell, Ratios, scores_of
from callwright.validators.predictions import run_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Prediction, Sample, Score
from callwright.warehouse.registry import Registry, raised


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
        for metric in METRICS.rows():
            for prediction in predictions:
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
