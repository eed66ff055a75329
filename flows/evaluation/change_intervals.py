"""Between what the differences lie that changed tools make to metrics, over samples that were answered both times."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from callwright.flows.evaluation.answers import read_predictions
from callwright.validators.metrics import answers, snapshots
from callwright.validators.metrics.intervals import Addend, Interval, difference_intervals
from callwright.validators.predictions import CandidateRun
from callwright.warehouse.browsing import list_changes
from callwright.warehouse.releases import ReleaseContent
from callwright.warehouse.store import Warehouse


def keep_intervals(warehouse: Warehouse, content: ReleaseContent, run: CandidateRun) -> None:
    """Keep between what the differences lie that changed tools make to the metrics of a candidate, where both are there now."""
    release = content.release.name
    if not warehouse.rows("select 1 from tool_changes where release = ? limit 1", [release]):
        return
    for change in list_changes(warehouse, release):
        of_run = (change.candidate, change.tools_shown) == (run.candidate, run.tools_shown)
        if of_run and change.is_paired and run.strategy in (change.strategy, change.plain_strategy):
            before, after = (
                _addends(warehouse, content, run._replace(strategy=strategy))
                for strategy in (change.plain_strategy, change.strategy)
            )
            for split in {"", *content.splits.values()}:
                keys = [key for key in before if key in after and split in ("", content.splits.get(key, ""))]
                found = _intervals([before[key] for key in keys], [after[key] for key in keys])
                shared = {"release": release, "split": split, **change._asdict()}
                rows = [{**shared, "metric": metric, **interval._asdict()} for metric, interval in found.items()]
                warehouse.put_rows({"tool_change_intervals": rows})


def _intervals(before: Sequence[Mapping[str, Addend]], after: Sequence[Mapping[str, Addend]]) -> dict[str, Interval]:
    """Between what the difference of each metric lies, of what the same samples add to it before and after."""
    metrics = sorted({metric for one in before for metric in one})
    parts = [tuple([one.get(metric, _NOTHING) for one in side] for side in (before, after)) for metric in metrics]
    found = zip(metrics, difference_intervals([(one, other) for one, other in parts]), strict=True)
    return {metric: interval for metric, interval in found if interval is not None}


def _addends(warehouse: Warehouse, content: ReleaseContent, run: CandidateRun) -> dict[str, Mapping[str, Addend]]:
    """What the answers of a candidate's first run add to each metric, by sample."""
    samples = {sample.key: sample for sample in content.samples}
    added: dict[str, Mapping[str, Addend]] = {}
    for key, given in groupby(read_predictions(warehouse, run), key=lambda one: one.subject):
        first, sample = [one for one in given if one.run == 0], samples[key]
        if first:
            own = snapshots.addends_of(sample, first, content.tools) if answers.has_one_call(sample) else {}
            added[key] = {**answers.addends_of(sample, first, content.tools), **own}
    return added


_NOTHING = Addend(0, 0)
