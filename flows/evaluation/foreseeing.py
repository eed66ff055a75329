"""What an evaluation would ask before it asks: how many samples and requests, and what changed tools touch."""

from typing import NamedTuple

from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.evaluation.paths import MULTI_STEP, live_kinds
from callwright.flows.evaluation.tool_changes import ChangedTool, changed_tools
from callwright.validators.path_runs import PATH_STRATEGIES
from callwright.validators.predictions import asked_at
from callwright.validators.strategies import STRATEGIES
from callwright.warehouse.records import CallTurn, Sample
from callwright.warehouse.releases import read_release
from callwright.warehouse.store import Warehouse


class ForeseenEvaluation(NamedTuple):
    """What each candidate would be asked: `requests` at least, unless it answered before; `touched` samples have a changed tool."""

    release: str
    candidates: int
    samples: int
    touched: int
    requests: int
    changed: list[ChangedTool]


def foresee(warehouse: Warehouse, release: str, candidates: int, conditions: Conditions) -> ForeseenEvaluation:
    """What an evaluation would ask. Raises ConfigurationError for an unknown release."""
    content = read_release(warehouse, release)
    drives = conditions.prompting._replace(user="", tools="").label in PATH_STRATEGIES
    asked = [
        sample
        for sample in content.samples
        if conditions.split in ("", content.splits.get(sample.key, ""))
        and (drives or sample.kind not in MULTI_STEP)
        and (conditions.user is None or sample.kind in live_kinds())
    ]
    return ForeseenEvaluation(
        release,
        candidates,
        len(asked),
        sum(any(key in conditions.shown.tools for key in sample.candidates) for sample in asked),
        conditions.runs * sum(_requests(sample, conditions) for sample in asked),
        changed_tools(content.tools.values(), conditions.shown),
    )


def _requests(sample: Sample, conditions: Conditions) -> int:
    """How many requests one run over a sample needs at least; a run over steps as many as the gold has, and one to answer."""
    if conditions.user is not None or sample.kind in MULTI_STEP:
        return 1 + sum(isinstance(turn, CallTurn) for turn in sample.turns)
    return STRATEGIES[conditions.prompting.strategy].asks * sum(1 for _ in asked_at(sample))
