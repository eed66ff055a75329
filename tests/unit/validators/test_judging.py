"""A judge's word on predictions."""

import pytest

from tests.support.scripted_model import ScriptedModel
from tests.support.validators.conversations import STEPS, answers, conversation
from tests.support.validators.stage_contexts import context_of
from validators.grading import judge_prediction, judge_version
from validators.judges import Judgement
from warehouse.errors import RecordError, ReplyError, TransientError
from warehouse.records import JudgeVerdict, Tool


async def test_a_judge_sees_the_conversation_so_far_and_both_calls(table: Tool, taxi: Tool, tools) -> None:
    sample = conversation([table, taxi])
    prediction = answers(sample, STEPS[0], {**STEPS[1], "party_size": "four", "seatingArea": ""}, STEPS[2])[1]
    chat = ScriptedModel({"judge_prediction": [Judgement(agree=True, reason="Four is 4.")]}, name="judge/x")
    verdict = await judge_prediction(prediction, sample, context_of(tools, chat))
    assert verdict == JudgeVerdict(
        prediction=prediction.key, judge="judge/x", agree=True, reason="Four is 4.", version=judge_version()
    )
    asked = chat.asked[0].messages[1].content
    assert "Four of us." in asked
    assert "19:30" not in asked
    assert "order_taxi" not in asked
    assert '"party_size":"four"' in asked
    assert "seatingArea" not in asked.partition("<given>")[2]


async def test_an_answer_that_can_not_be_read_is_no_agreement(table: Tool, tools) -> None:
    sample = conversation([table])
    prediction = answers(sample, *STEPS)[0]
    chat = ScriptedModel({"judge_prediction": [ReplyError("It begins: 'Well'."), TransientError("away")]})
    verdict = await judge_prediction(prediction, sample, context_of(tools, chat))
    assert (verdict.agree, "It begins" in verdict.reason) == (False, True)
    with pytest.raises(TransientError):
        await judge_prediction(prediction, sample, context_of(tools, chat))


async def test_without_two_calls_there_is_nothing_to_judge(table: Tool, tools) -> None:
    sample = conversation([table])
    with pytest.raises(RecordError, match="no two calls"):
        await judge_prediction(answers(sample, "Sorry.", *STEPS[1:])[0], sample, context_of(tools))
