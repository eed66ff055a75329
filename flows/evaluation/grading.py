"""Grades of a candidate's answers by a judge: asked once, and kept."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from random import Random

from flows.asking import ask_and_keep
from flows.evaluation.answers import read_grades
from flows.evaluation.conditions import Office
from generators.stage_context import StageContext
from llm.asking import LedgeredChat
from validators.grading import grade_prediction, graded_metric
from warehouse.records import Prediction, Record, Sample
from warehouse.releases import ReleaseContent


async def grade_missing(
    office: Office, content: ReleaseContent, judge: LedgeredChat, predictions: Iterable[Prediction]
) -> None:
    """Ask the judge to grade the plans, and the parameters in conversations, that it has not graded yet."""
    samples = {sample.key: sample for sample in content.samples}
    known = read_grades(office.keeping.warehouse, office.release, judge.name)
    open_ones = [one for one in predictions if one.key not in known and graded_metric(one, samples[one.subject])]

    await ask_judge(office, content, judge, open_ones, grade_prediction, about="the answers")


async def ask_judge(
    office: Office,
    content: ReleaseContent,
    judge: LedgeredChat,
    predictions: Sequence[Prediction],
    opinion: Callable[[Prediction, Sample, StageContext], Awaitable[Record]],
    *,
    about: str,
) -> None:
    """Ask the judge's `opinion` of each prediction, all of one candidate, and keep it; `about` says of what in the progress."""
    samples = {sample.key: sample for sample in content.samples}

    async def ask(prediction: Prediction) -> list[Record]:
        context = StageContext(judge, Random(prediction.key), content.tools)
        return [await opinion(prediction, samples[prediction.subject], context)]

    settings = office.conditions.judge
    title = f"{judge.name} on {about} of {predictions[0].model}" if predictions else ""
    await ask_and_keep(predictions, ask, settings.concurrency if settings else 1, title, office.keeping)
