"""What a judge's grades come to: CallNavi's judge score over plans (5.2), CONFETTI's parameter validity (4.1).

`judge_score` is a mean, also over difficulties (`…_macro`). `parameter_validity` is the share of valid parameters in calls
with the right name, as the paper's text has it; `…_of_all` in all predicted calls, as its formula has it. What the judge's
reply could not be read for counts in none of them.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from callwright.generators.kinds import traits_of
from callwright.validators.metrics.answers import Values, slices_of
from callwright.validators.metrics.callnavi.scores import DIFFICULTIES
from callwright.validators.metrics.confetti.scores import PredictedCallScore, measure_validity
from callwright.validators.metrics.intervals import Addend, Interval, bounds_of, interval_of
from callwright.validators.predictions import CandidateRun, run_of
from callwright.warehouse.records import Grade, Prediction, Sample, Score


class GradeScores:
    """The scores of any number of runs by one judge's grades, gathered sample by sample."""

    def __init__(self, grades: Mapping[str, Grade], judge: str) -> None:
        """`grades` are given by the keys of the predictions."""
        self._grades = grades
        self._judge = judge
        self._cells: dict[tuple[CandidateRun, str, str], _Graded] = defaultdict(_Graded)

    def add(self, sample: Sample, predictions: Iterable[Prediction]) -> None:
        """Count what the judge says of answers to a sample."""
        slices = list(slices_of(sample))
        for one in predictions:
            run, grade = run_of(one), self._grades.get(one.key)
            for cell in slices:
                self._cells[run, *cell].add(sample, one, grade)

    def scores(self) -> list[Score]:
        """Every score of every run, sorted."""
        return [
            Score(
                **run._asdict(), judge=self._judge, slice_by=slice_by, slice_value=slice_value, metric=metric,
                value=value, count=count, **bounds_of(interval),
            )
            for (run, slice_by, slice_value), graded in sorted(self._cells.items(), key=lambda one: one[0])
            for metric, value, count, interval in (*graded.of_plans(), *graded.of_parameters())
        ]  # fmt: skip


class _Graded:
    """Grades of plans, by difficulty, and the parameters of calls in two heaps.

    The one has those with a due name, of which the judge has spoken, the other all others.
    """

    def __init__(self) -> None:
        self._plans: dict[str, array[float]] = defaultdict(lambda: array("d"))
        self._judged = self._valid = self._others = 0
        self._parts: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)  # what answers add to each metric

    def add(self, sample: Sample, prediction: Prediction, grade: Grade | None) -> None:
        """Count a prediction, with what the judge says of it."""
        if grade is not None and grade.metric == "judge_score" and grade.count:
            self._plans[sample.difficulty].append(grade.value)
        if traits_of(sample.kind).asked != "conversation" or (grade is not None and not grade.count):
            return
        judged = grade.count if grade is not None else 0
        valid = round(grade.value) if grade is not None else 0
        predicted = sum(len(call.arguments) for call in prediction.calls or ())
        self._judged += judged
        self._valid += valid
        self._others += predicted - judged
        self._parts["parameter_validity"][valid, judged] += 1
        self._parts["parameter_validity_of_all"][valid, predicted] += 1

    def of_plans(self) -> Values:
        """The mean grade of plans, over all and as a mean of the difficulties."""
        every = [value for of_level in self._plans.values() for value in of_level]
        if every:
            parts = (Addend(value, 1, times) for value, times in sorted(Counter(every).items()))
            yield "judge_score", fmean(every), len(every), interval_of(parts)
        levels = [self._plans[name] for name in DIFFICULTIES if self._plans.get(name)]
        if levels:
            yield "judge_score_macro", fmean(fmean(level) for level in levels), len(every), None

    def of_parameters(self) -> Values:
        """What share of the parameters is valid."""
        validity = measure_validity(
            [
                PredictedCallScore(name_right=True, parameters=self._judged, valid=self._valid),
                PredictedCallScore(name_right=False, parameters=self._others, valid=0),
            ]
        )
        if validity.rate is not None:
            yield "parameter_validity", validity.rate, validity.judged, self._interval("parameter_validity")
        if validity.rate_of_all is not None:
            interval = self._interval("parameter_validity_of_all")
            yield "parameter_validity_of_all", validity.rate_of_all, validity.predicted, interval

    def _interval(self, metric: str) -> Interval | None:
        return interval_of(Addend(valid, whole, times) for (valid, whole), times in sorted(self._parts[metric].items()))
