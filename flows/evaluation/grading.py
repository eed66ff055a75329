"""Grades of a candidate's answers by a judge: asked once, and kept."""

from collections.abc import Iterable
from random import Random

from flows.asking import ask_and_keep
from flows.evaluation.answers import read_grades
from flows.evaluation.conditions import Office
from generators.desk import Desk
from llm.asking import LedgeredChat
from validators.grading import grade_prediction, graded_metric
from warehouse.records import Grade, Prediction
from warehouse.releases import ReleaseContent


async def grade_missing(
    office: Office, content: ReleaseContent, judge: LedgeredChat, predictions: Iterable[Prediction]
) -> None:
    """Ask the judge to grade the plans, and the parameters in conversations, that it has not graded yet."""
    samples = {sample.key: sample for sample in content.samples}
    known = read_grades(office.keeping.warehouse, office.release, judge.name)
    open_ones = [one for one in predictions if one.key not in known and graded_metric(one, samples[one.subject])]

    async def ask(prediction: Prediction) -> list[Grade]:
        desk = Desk(judge, Random(prediction.key), content.tools)
        return [await grade_prediction(prediction, samples[prediction.subject], desk)]

    settings = office.conditions.judge
    title = f"{judge.name} on the answers of {open_ones[0].model}" if open_ones else ""
    await ask_and_keep(open_ones, ask, settings.concurrency if settings else 1, title, office.keeping)
