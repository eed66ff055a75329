"""Scores of predictions that are all at hand, where the product gathers them piece by piece."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from callwright.validators.metrics.answers import AnswerScores, GradeScores, mistakes_of
from callwright.validators.metrics.confetti.soft import StringScorer, score_meaning
from callwright.validators.metrics.snapshots import Agreements, ErrorType, SnapshotScores
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Grade, Prediction, Sample, Score, Tool


def score_answers(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    tools: Mapping[str, Tool],
    scorer: StringScorer = score_meaning,
) -> list[Score]:
    """Every score of every run in `predictions`, sorted; see AnswerScores."""
    asked: dict[str, list[Prediction]] = defaultdict(list)
    for one in predictions:
        asked[one.subject].append(one)
    by_key = {sample.key: sample for sample in samples}
    scores = AnswerScores(tools, scorer)
    scores.add([(by_key[subject], given) for subject, given in asked.items()])
    return scores.scores()


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
    by_key = {sample.key: sample for sample in samples}
    scores = GradeScores(grades, judge)
    for one in predictions:
        scores.add(by_key[one.subject], [one])
    return scores.scores()


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
    by_key = {sample.key: sample for sample in samples}
    asked: dict[str, list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        if prediction.subject not in by_key:
            raise RecordError(
                f"The prediction for {prediction.subject} has no sample in this release. Predict it"
                " again."
            )
        asked[prediction.subject].append(prediction)
    scores = SnapshotScores(tools, judge=judge, agreements=agreements)
    for subject, of_sample in asked.items():
        scores.add(by_key[subject], of_sample)
    return scores.scores()
