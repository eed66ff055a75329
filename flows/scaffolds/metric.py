"""A metric of one's own: how many of the arguments that are due an answer gives."""

from callwright.validators.metrics.table import Metric
from callwright.warehouse.records import Prediction, Sample


def score(sample: Sample, prediction: Prediction) -> float | None:
    """The share of the due arguments that an answer gives, None where none is due."""
    calls = sample.calls_at(prediction.turn)
    due = {(call.tool, name) for call in calls for name in call.arguments}
    given = {(call.tool, name) for call in prediction.calls or () for name in call.arguments}
    return len(due & given) / len(due) if due else None


METRIC = Metric(name="example", about="the share of due arguments that are given", score=score)
