"""Metrics of one's own: each gives an answer a number, of which the mean is kept beside our own metrics, by slice."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from callwright.validators.metrics.intervals import Addend, bounds_of, interval_of
from callwright.validators.predictions import CandidateRun, run_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Prediction, Sample, Score
from callwright.warehouse.registry import Registry, raised


class Metric(NamedTuple):
    """A metric: `score` gives what a candidate answered to a sample a number, None where it says nothing of it."""

    name: str
    about: str
    score: Callable[[Sample, Prediction], float | None]


METRICS = Registry("metrics", Metric, "metric", "metrics")
_Cell = tuple[CandidateRun, str, str, str]  # a run, a metric, and the slice: by what, and which


class OwnScores:
    """The means of all metrics of the table over a candidate's answers, as a whole and by kind, category and language."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._values: dict[_Cell, Counter[float]] = defaultdict(Counter)

    def add(self, sample: Sample, predictions: Sequence[Prediction]) -> None:
        """Count what runs have answered to a sample. Raises ConfigurationError where a metric raises."""
        slices = (("all", ""), ("kind", sample.kind), ("category", sample.category), ("language", sample.language))
        for metric in METRICS.rows():
            for prediction in predictions:
                value = _value(metric, sample, prediction)
                if value is not None:
                    for name, where in slices:
                        self._values[run_of(prediction), metric.name, name, where][value] += 1

    def scores(self) -> Iterator[Score]:
        """A score for each run, metric and slice."""
        for (run, metric, name, where), values in sorted(self._values.items()):
            count = values.total()
            mean = sum(value * times for value, times in values.items()) / count
            interval = interval_of(Addend(value, 1, times) for value, times in sorted(values.items()))
            yield Score(
                **run._asdict(), metric=metric, value=mean, count=count, slice_by=name, slice_value=where,
                **bounds_of(interval),
            )  # fmt: skip


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
