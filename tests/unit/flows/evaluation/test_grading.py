"""Grades of predictions by a judge, and what they come to."""

import pytest
from pydantic import ValidationError

from callwright.flows.evaluation.grading import (
    grade_prediction,
    grade_versions,
    graded_metric,
    rightly_named,
)
from callwright.testing import ScriptedModel, context_of
from callwright.validators.judges import MadeUp, PlanGrade
from callwright.warehouse.errors import RecordError, ReplyError, TransientError
from callwright.warehouse.records import Call, GoldCall, Grade, Prediction, Sample
from tests.support.flows.plan_release import EASY, HARD, MEDIUM, TALK, TOOLS, call
from tests.support.validators.scoring_at_once import score_grades

BY_KEY = {tool.key: tool for tool in TOOLS}
FIND_TURN, BOOK_TURN = 3, 5


def answer(
    sample: Sample, *calls: GoldCall, turn: int | None = None, text: str = "[]"
) -> Prediction:
    made = tuple(Call(tool=one.tool, arguments=one.arguments) for one in calls)
    place = len(sample.turns) - 1 if turn is None else turn
    return Prediction(
        release="v1", subject=sample.key, turn=place, candidate="m", calls=made, text=text
    )


def grade(
    prediction: Prediction, value: float, count: int = 1, metric: str = "judge_score"
) -> dict[str, Grade]:
    told = Grade(
        prediction=prediction.key,
        judge="j",
        metric=metric,
        value=value,
        count=count,
        reason="",
        version="1",
    )
    return {prediction.key: told}


def values(*args) -> dict[tuple[str, str, str], tuple[float, int]]:
    return {
        (one.metric, one.slice_by, one.slice_value): (one.value, one.count)
        for one in score_grades(*args, judge="j")
    }


async def test_a_plan_is_graded_beside_the_due_one() -> None:
    chat = ScriptedModel(
        {"judge_plan": [PlanGrade(score=0.85, reason="The hour differs.")]}, name="judge/x"
    )
    prediction = answer(MEDIUM, call("close_pool", reason="fire"))
    found = await grade_prediction(prediction, MEDIUM, context_of(BY_KEY, chat))
    assert found == Grade(
        prediction=prediction.key,
        judge="judge/x",
        metric="judge_score",
        value=0.85,
        count=1,
        reason="The hour differs.",
        version=grade_versions()["judge_score"],
    )
    _, _, asked = chat.asked[0].messages[1].content.partition("<expected>")
    expected, _, given = asked.partition("<given>")
    assert ('"guest_id":"G123"' in expected, '"reason":"fire"' in given) == (True, True)


async def test_an_answer_that_is_no_plan_is_shown_as_it_is() -> None:
    chat = ScriptedModel({"judge_plan": [PlanGrade(score=0, reason="No plan.")]})
    await grade_prediction(
        answer(EASY, text="Sure, the pool!").with_changes(calls=None),
        EASY,
        context_of(BY_KEY, chat),
    )
    assert '<given>"Sure, the pool!"</given>' in chat.asked[0].messages[1].content


async def test_a_reply_that_can_not_be_read_counts_nowhere() -> None:
    prediction = answer(EASY, *EASY.gold)
    chat = ScriptedModel({"judge_plan": [ReplyError("It begins: 'Well'."), TransientError("away")]})
    found = await grade_prediction(prediction, EASY, context_of(BY_KEY, chat))
    assert (found.count, "It begins" in found.reason) == (0, True)
    assert values([prediction], [EASY], {prediction.key: found}) == {}
    with pytest.raises(TransientError):
        await grade_prediction(prediction, EASY, context_of(BY_KEY, chat))


def test_a_grade_beyond_its_bounds_is_none() -> None:
    with pytest.raises(ValidationError):
        PlanGrade(score=1.2, reason="")


async def test_parameters_are_judged_after_the_true_history() -> None:
    chat = ScriptedModel(
        {"judge_parameters": [MadeUp(parameters=["hour"], reason="Nobody said ten.")]}
    )
    prediction = answer(TALK, call("book_sauna", guest_id="G777", hour=10), turn=BOOK_TURN)
    found = await grade_prediction(prediction, TALK, context_of(BY_KEY, chat))
    assert (found.metric, found.value, found.count) == ("parameter_validity", 1, 2)
    assert found.reason == "Not stated: book_sauna.hour."
    asked = chat.asked[0].messages[1].content
    assert ("G777" in asked.partition("<call>")[0], "It's yours" in asked) == (True, False)


async def test_only_calls_of_due_tools_with_parameters_are_judged() -> None:
    find = call("find_guest", name="Ida Berg")
    twice = answer(TALK, find, find, call("close_pool", reason="storm"), turn=FIND_TURN)
    assert [one.tool for one in rightly_named(twice, TALK)] == ["find_guest"]
    for nothing in (
        answer(TALK, call("close_pool", reason="storm"), turn=FIND_TURN),
        answer(TALK, call("find_guest"), turn=FIND_TURN),
        answer(TALK, turn=1),
    ):
        assert graded_metric(nothing, TALK) is None
    with pytest.raises(RecordError, match="nothing that a judge could grade"):
        await grade_prediction(answer(TALK, turn=1), TALK, context_of(BY_KEY, ScriptedModel({})))
    assert graded_metric(answer(EASY), EASY.with_changes(kind="perfect")) is None


def test_the_judge_score_is_a_mean_also_over_difficulties() -> None:
    easy, other, hard = answer(EASY, *EASY.gold), answer(EASY).with_changes(run=1), answer(HARD)
    same = EASY.with_changes(category="Bath")
    twin = answer(same, *EASY.gold)
    grades = grade(easy, 1) | grade(twin, 0.8) | grade(hard, 0.3) | grade(other, 0)
    found = score_grades([easy, twin, hard, other], [EASY, same, HARD], grades, "j")
    by_run = {(one.run, one.metric, one.slice_value): (one.value, one.count) for one in found}
    assert by_run[0, "judge_score", ""] == (pytest.approx(0.7), 3)
    assert by_run[0, "judge_score_macro", ""] == (pytest.approx(0.6), 3)
    assert by_run[0, "judge_score", "easy"] == (pytest.approx(0.9), 2)
    assert by_run[1, "judge_score", ""] == (0, 1)
    assert {one.judge for one in found} == {"j"}


def test_parameter_validity_divides_by_calls_of_the_right_name_or_by_all() -> None:
    right = answer(TALK, call("book_sauna", guest_id="G777", hour=10), turn=BOOK_TURN)
    wrong = answer(TALK, call("close_pool", reason="storm"), turn=FIND_TURN)
    found = values([right, wrong], [TALK], grade(right, 1, 2, "parameter_validity"))
    assert found["parameter_validity", "all", ""] == (0.5, 2)
    assert found["parameter_validity_of_all", "all", ""] == (pytest.approx(1 / 3), 3)
    assert not any("judge_score" in metric for metric, *_ in found)
