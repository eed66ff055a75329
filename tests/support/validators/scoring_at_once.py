"""Scores of predictions that are all at hand, where the product gathers them piece by piece."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from callwright.validators.metrics.callnavi.plans import PlanGrades, PlanScores
from callwright.validators.metrics.confetti.conversations import ParameterGrades, SpokenScores
from callwright.validators.metrics.confetti.soft import StringScorer, score_meaning
from callwright.validators.metrics.hammerbench.snapshots import Agreements, SnapshotScores
from callwright.validators.metrics.mistakes import ErrorType, InventedScores, mistakes_of
from callwright.validators.metrics.table import Answered, Gathering, Opinions
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Grade, Prediction, Sample, Score, Tool


def answer_scores(
    tools: Mapping[str, Tool], scorer: StringScorer = score_meaning
) -> list[Gathering]:
    """The gatherings of answers to plans and conversations."""
    return [InventedScores(tools), PlanScores(), SpokenScores(scorer)]


def grade_scores(grades: Mapping[str, Grade], judge: str) -> list[Gathering]:
    """The gatherings of a judge's grades."""
    opinions = Opinions(judge, {}, grades)
    return [PlanGrades(opinions), ParameterGrades(opinions)]


def gathered(parts: Sequence[Gathering], *pieces: Sequence[Answered]) -> list[Score]:
    """What gatherings have counted of some pieces, one after the other."""
    for piece in pieces:
        for part in parts:
            part.add(piece)
    return [score for part in parts for score in part.scores()]


def score_answers(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    tools: Mapping[str, Tool],
    scorer: StringScorer = score_meaning,
) -> list[Score]:
    """Every score of every run in `predictions`."""
    return gathered(answer_scores(tools, scorer), _by_sample(predictions, samples))


def name_errors(
    predictions: Iterable[Prediction], samples: Mapping[str, Sample]
) -> Iterator[tuple[str, ErrorType]]:
    """The mistake of each prediction by its key, "" where there is none."""
    known = list(predictions)
    for one, mistake in zip(known, mistakes_of(known, samples), strict=True):
        if mistake is not None:
            yield one.key, mistake


def score_grades(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    grades: Mapping[str, Grade],
    judge: str,
) -> list[Score]:
    """Every score of every run by one judge's grades, which are given by the keys of the
    predictions.
    """
    return gathered(grade_scores(grades, judge), _by_sample(predictions, samples))


def score_predictions(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    tools: Mapping[str, Tool] | None = None,
    *,
    judge: str = "",
    agreements: Agreements | None = None,
) -> list[Score]:
    """The scores of every run in `predictions`, sorted; see SnapshotScores.

    Raises RecordError where predictions and samples do not fit together, or the judge was not
    asked.
    """
    scores = SnapshotScores(tools, judge=judge, agreements=agreements)
    return gathered([scores], _by_sample(predictions, samples))


def _by_sample(predictions: Iterable[Prediction], samples: Iterable[Sample]) -> list[Answered]:
    by_key = {sample.key: sample for sample in samples}
    asked: dict[str, list[Prediction]] = defaultdict(list)
    for one in predictions:
        if one.subject not in by_key:
            raise RecordError(
                f"The prediction for {one.subject} has no sample in this release. Predict it again."
            )
        asked[one.subject].append(one)
    return [(by_key[subject], given) for subject, given in asked.items()]
