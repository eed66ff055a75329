"""HammerBench's single-turn metrics over our own predictions, as a whole and by kind, category and language.

Each is a mean over the snapshots that it can be asked of: `func_acc` and `args_acc` over those with a due call
(`args_acc` wants the right tool too, as the paper says and its newest release forgets), `pn_hr`, `pn_mr` and
`pn_hr_definition` over those with the right tool, `irrelevant` and `no_call` over those with none. `pn_hr` counts names
that the gold lacks, as the published code does; `pn_hr_definition` those that the tool's definition lacks, as the paper
defines it (HammerBench 6.1.1). `irrelevant` is the published count of replies that say sorry; `no_call` counts the
replies that call nothing, in whatever words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from validators.matching.hammerbench_arguments import arguments_match, hallucinated_names, missing_names
from validators.metrics.errors import gold_at, said_arguments
from validators.metrics.hammerbench_snapshots import is_refusal
from validators.runs import CandidateRun
from warehouse.errors import RecordError
from warehouse.records import Prediction, Sample, Score, Tool

SLICES = ("kind", "category", "language")

_Figures = dict[str, bool]


class _Cell(NamedTuple):
    run: CandidateRun
    slice_by: str
    slice_value: str
    metric: str


def score_predictions(
    predictions: Iterable[Prediction], samples: Iterable[Sample], tools: Mapping[str, Tool] | None = None
) -> list[Score]:
    """The scores of every run in `predictions`, sorted; `tools` by key, None leaves out `pn_hr_definition`.

    Raises RecordError where a prediction's sample is not among `samples`.
    """
    by_key = {sample.key: sample for sample in samples}
    cells: dict[_Cell, list[bool]] = defaultdict(list)
    for prediction in predictions:
        if prediction.subject not in by_key:
            raise RecordError(
                f"The prediction for {prediction.subject} has no sample in this release. Predict it again."
            )
        sample = by_key[prediction.subject]
        run = CandidateRun(prediction.release, prediction.model, prediction.strategy, prediction.run)
        for metric, is_met in figures(prediction, sample, tools or {}).items():
            for slice_by, slice_value in _slices(sample):
                cells[_Cell(run, slice_by, slice_value, metric)].append(is_met)
    return [
        Score(
            **cell.run._asdict(),
            metric=cell.metric,
            value=sum(met) / len(met),
            count=len(met),
            slice_by=cell.slice_by,
            slice_value=cell.slice_value,
        )
        for cell, met in sorted(cells.items())
    ]


def figures(prediction: Prediction, sample: Sample, tools: Mapping[str, Tool]) -> _Figures:
    """Each metric that one prediction counts for, and whether it is met."""
    gold = gold_at(prediction, sample)
    if gold is None:
        return {"irrelevant": is_refusal(prediction.text), "no_call": prediction.calls == ()}
    made = prediction.calls[0] if prediction.calls else None
    if made is None or made.tool != gold.tool:
        return {"func_acc": False, "args_acc": False}
    given = said_arguments(made.arguments)
    met = {
        "func_acc": True,
        "args_acc": arguments_match(gold.arguments, given, sample.language),
        "pn_hr": hallucinated_names(gold.arguments, given) > 0,
        "pn_mr": missing_names(gold.arguments, given) > 0,
    }
    defined = next((tools[key] for key in sample.candidates if key in tools and tools[key].name == gold.tool), None)
    if defined is not None:
        met["pn_hr_definition"] = hallucinated_names(defined.properties, given) > 0
    return met


def _slices(sample: Sample) -> Iterator[tuple[str, str]]:
    yield "all", ""
    for field in SLICES:
        yield field, getattr(sample, field)
