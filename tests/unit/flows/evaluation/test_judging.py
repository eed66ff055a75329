"""A judge's word on predictions."""

import pytest
from pydantic import JsonValue

from callwright.flows.evaluation.grading import judge_prediction, judge_version
from callwright.testing import ScriptedModel, context_of
from callwright.validators.judges import Judgement
from callwright.warehouse.errors import RecordError, ReplyError, TransientError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    JudgeVerdict,
    Prediction,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.validators.conversations import RUN, STEPS, answers, conversation


async def test_a_judge_sees_the_conversation_so_far_and_both_calls(
    table: Tool, taxi: Tool, tools
) -> None:
    sample = conversation([table, taxi])
    prediction = answers(
        sample, STEPS[0], {**STEPS[1], "party_size": "four", "seatingArea": ""}, STEPS[2]
    )[1]
    chat = ScriptedModel(
        {"judge_prediction": [Judgement(agree=True, reason="Four is 4.")]}, name="judge/x"
    )
    verdict = await judge_prediction(prediction, sample, context_of(tools, chat))
    assert verdict == JudgeVerdict(
        prediction=prediction.key,
        judge="judge/x",
        agree=True,
        reason="Four is 4.",
        version=judge_version(),
    )
    asked = chat.asked[0].messages[1].content
    assert "Four of us." in asked
    assert "19:30" not in asked
    assert "order_taxi" not in asked
    assert '"party_size":"four"' in asked
    assert "seatingArea" not in asked.partition("<given>")[2]


async def test_an_answer_that_can_not_be_read_is_no_agreement(table: Tool, tools) -> None:
    sample = conversation([table])
    prediction = answers(sample, {"restaurant": "the Lindenhof"}, *STEPS[1:])[0]
    chat = ScriptedModel(
        {"judge_prediction": [ReplyError("It begins: 'Well'."), TransientError("away")]}
    )
    verdict = await judge_prediction(prediction, sample, context_of(tools, chat))
    assert (verdict.agree, "It begins" in verdict.reason) == (False, True)
    with pytest.raises(TransientError):
        await judge_prediction(prediction, sample, context_of(tools, chat))


async def test_without_two_calls_there_is_nothing_to_judge(table: Tool, tools) -> None:
    sample = conversation([table])
    with pytest.raises(RecordError, match="no two calls"):
        await judge_prediction(answers(sample, "Sorry.", *STEPS[1:])[0], sample, context_of(tools))


def set_of(table: Tool, taxi: Tool, kind: str = "parallel") -> Sample:
    calls = (
        GoldCall(tool="book_table", arguments={"restaurant": "Lindenhof", "party_size": 4}),
        GoldCall(tool="order_taxi", arguments={"destination": "Lindenhof"}),
    )
    request = UserTurn(text="A table for four at Lindenhof, and a taxi there.")
    return Sample(
        kind=kind,
        language="en",
        category="Town",
        candidates=(table.key, taxi.key),
        turns=(request, CallTurn(calls=calls)),
    )


def made_of(sample: Sample, *arguments: dict[str, JsonValue]) -> Prediction:
    calls = [
        Call(tool=due.tool, arguments=given)
        for due, given in zip(sample.gold, arguments, strict=False)
    ]
    return Prediction(
        **RUN._asdict(), subject=sample.key, turn=1, text="", calls=tuple(reversed(calls))
    )


TAXI, BOOKING = {"destination": "Lindenhof"}, {"restaurant": "Lindenhof", "party_size": "four"}


async def test_a_judge_looks_at_each_call_of_a_set_that_is_written_otherwise(
    table: Tool, taxi: Tool, tools
) -> None:
    sample = set_of(table, taxi)
    prediction = made_of(sample, BOOKING, {"destination": "the Lindenhof"})
    for second in (True, False):
        opinions = [
            Judgement(agree=True, reason="Four is 4."),
            Judgement(agree=second, reason="It is there."),
        ]
        chat = ScriptedModel({"judge_prediction": opinions}, name="judge/x")
        verdict = await judge_prediction(prediction, sample, context_of(tools, chat))
        assert (verdict.agree, chat.left) == (second, {})
