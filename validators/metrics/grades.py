"""What a judge's grades come to: CallNavi's judge score over plans (5.2), CONFETTI's parameter validity (4.1).

`judge_score` is a mean, also over difficulties (`…_macro`). `parameter_validity` is the share of valid parameters in calls
with the right name, as the paper's text has it; `…_of_all` in all predicted calls, as its formula has it. What the judge's
reply could not be read for counts in none of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from validators.manners import setting_of
from validators.metrics.answers import Values, slices_of
from validators.metrics.callnavi.scores import DIFFICULTIES
from validators.metrics.confetti.validity import JudgedCall, measure_validity
from validators.runs import CandidateRun
from warehouse.exports.callnavi import difficulty_of
from warehouse.records import Grade, Prediction, Sample, Score


class _Graded(NamedTuple):
    """One prediction, with what a judge says of it."""

    sample: Sample
    prediction: Prediction
    grade: Grade | None


def score_grades(
    predictions: Iterable[Prediction], samples: Iterable[Sample], grades: Mapping[str, Grade], judge: str
) -> list[Score]:
    """Every score of every run by one judge's grades, which are given by the keys of the predictions."""
    by_key = {sample.key: sample for sample in samples}
    cells: dict[tuple[CandidateRun, str, str], list[_Graded]] = defaultdict(list)
    for one in predictions:
        run = CandidateRun(one.release, one.model, one.strategy, one.tools_shown, one.run)
        graded = _Graded(by_key[one.subject], one, grades.get(one.key))
        for cell in slices_of(graded.sample):
            cells[(run, *cell)].append(graded)
    return [
        Score(
            **run._asdict(), judge=judge, slice_by=slice_by, slice_value=slice_value, metric=metric, value=value,
            count=count,
        )
        for (run, slice_by, slice_value), members in sorted(cells.items(), key=lambda one: one[0])
        for metric, value, count in (*_of_plans(members), *_of_parameters(members))
    ]  # fmt: skip


def _of_plans(members: Sequence[_Graded]) -> Values:
    values: dict[str, list[float]] = defaultdict(list)
    for one in members:
        if one.grade is not None and one.grade.metric == "judge_score" and one.grade.count:
            values[difficulty_of(one.sample)].append(one.grade.value)
    every = [value for of_level in values.values() for value in of_level]
    if every:
        yield "judge_score", fmean(every), len(every)
    levels = [values[name] for name in DIFFICULTIES if values.get(name)]
    if levels:
        yield "judge_score_macro", fmean(fmean(level) for level in levels), len(every)


def _of_parameters(members: Sequence[_Graded]) -> Values:
    validity = measure_validity([call for one in members for call in _judged_calls(one)])
    if validity.rate is not None:
        yield "parameter_validity", validity.rate, validity.judged
    if validity.rate_of_all is not None:
        yield "parameter_validity_of_all", validity.rate_of_all, validity.predicted


def _judged_calls(graded: _Graded) -> Iterator[JudgedCall]:
    """The calls of a prediction in two heaps: those with a due name, of which a judge has spoken, and all others."""
    grade = graded.grade
    if setting_of(graded.sample.kind) != "conversation" or (grade is not None and not grade.count):
        return
    judged = grade.count if grade is not None else 0
    made = sum(len(call.arguments) for call in graded.prediction.calls or ())
    if grade is not None:
        yield JudgedCall(name_right=True, parameters=judged, valid=round(grade.value))
    yield JudgedCall(name_right=False, parameters=made - judged, valid=0)
