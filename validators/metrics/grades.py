"""What a judge's grades come to: CallNavi's judge score over plans (5.2), CONFETTI's parameter validity (4.1).

`judge_score` is a mean, also over difficulties (`…_macro`). `parameter_validity` is the share of valid parameters in calls
with the right name, as the paper's text has it; `…_of_all` in all predicted calls, as its formula has it. What the judge's
reply could not be read for counts in none of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from callwright.generators.kinds import traits_of
from callwright.validators.metrics.answers import slices_of
from callwright.validators.metrics.ratios import Cell, Ratios, scores_of
from callwright.validators.predictions import run_of
from callwright.warehouse.records import Grade, Prediction, Sample, Score


class GradeScores:
    """The scores of any number of runs by one judge's grades, gathered sample by sample."""

    def __init__(self, grades: Mapping[str, Grade], judge: str) -> None:
        """`grades` are given by the keys of the predictions."""
        self._grades = grades
        self._judge = judge
        self._cells: dict[Cell, Ratios] = defaultdict(Ratios)

    def add(self, sample: Sample, predictions: Iterable[Prediction]) -> None:
        """Count what the judge says of answers to a sample."""
        slices = list(slices_of(sample))
        for one in predictions:
            run, grade = run_of(one), self._grades.get(one.key)
            for where in slices:
                _count(self._cells[Cell(run, *where)], sample, one, grade)

    def scores(self) -> list[Score]:
        """Every score of every run, sorted."""
        return [*scores_of(self._cells, judge=self._judge)]


def _count(ratios: Ratios, sample: Sample, prediction: Prediction, grade: Grade | None) -> None:
    """Count a prediction, with what the judge says of it: of no call with a due name it has said anything."""
    if grade is not None and grade.metric == "judge_score" and grade.count:
        ratios.count("judge_score", grade.value, level=sample.difficulty)
    if traits_of(sample.kind).asked != "conversation" or (grade is not None and not grade.count):
        return
    judged, valid = (grade.count, round(grade.value)) if grade is not None else (0, 0)
    ratios.count("parameter_validity", valid, judged)
    ratios.count("parameter_validity_of_all", valid, sum(len(call.arguments) for call in prediction.calls or ()))
