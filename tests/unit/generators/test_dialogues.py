"""Questions and answers one by one: what a wording must keep to, and what is known after each
answer.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.dialogues.making import (
    SlotAnswer,
    SlotQuestion,
    answer_forms,
    plan_slots,
    write_dialogues,
)
from callwright.language.values import locate
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language, ReplyTurn, Sample, Tool, UserTurn
from tests.support.generators.dialogue_parts import (
    TOOLS,
    RecordingTemplateChat,
    context,
    derivation,
    imperfect,
    plan,
)

DAY = SlotQuestion(question="On which day?")
ON_FRIDAY = SlotAnswer(answer="On [date: March 5, 2027].")


def scripted(questions: list[SlotQuestion], answers: list[SlotAnswer]) -> ScriptedModel:
    return ScriptedModel({"ask_question": questions, "answer_question": answers})


def tool_of(sample: Sample) -> Tool:
    return TOOLS[sample.candidates[0]]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("seed", range(8))
async def test_each_answer_adds_exactly_its_value_and_says_it(
    language: Language, seed: int
) -> None:
    at_hand = context(RecordingTemplateChat(seed=seed))
    [slots] = await plan_slots(derivation(imperfect(language), seed=seed), at_hand)
    [sample] = await write_dialogues(slots, at_hand)
    assert [turn.kind for turn in sample.turns] == [
        "user",
        "calls",
        *["reply", "user", "calls"] * 4,
    ]
    known = {"restaurant"}
    for snapshot, slot in zip(list(sample.snapshots())[1:], slots.slots, strict=True):
        [call] = snapshot.calls
        assert set(call.arguments) - known == {slot.parameter}
        assert call.arguments[slot.parameter] == slot.value
        known = set(call.arguments)
        assert {proof.argument for proof in call.evidence} == known
        for proof in call.evidence:
            said = sample.turns[proof.turn or 0]
            assert isinstance(said, UserTurn)
            assert said.text[proof.start : proof.end] == proof.quote
            schema = tool_of(sample).properties[proof.argument]
            assert locate(call.arguments[proof.argument], schema, proof.quote)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Is March 5, 2027 all right?",  # says the value
        "On which day shall I book Blue Door?",  # says what is known
        "I have written that down.",  # asks for nothing
        "哪一天？",
        "On which day?\nAt what time?",
        "On which day " + "please " * 40 + "?",
    ],
)
async def test_a_question_that_does_not_fit_is_worded_anew(question: str) -> None:
    chat = scripted([SlotQuestion(question=question), DAY], [ON_FRIDAY])
    [sample] = await write_dialogues(plan("date"), context(chat))
    assert sample.turns[2] == ReplyTurn(text="On which day?")
    assert chat.left == {}


@pytest.mark.parametrize(
    "answer",
    [
        SlotAnswer(answer=" "),
        SlotAnswer(answer="On Friday."),  # has no slot
        SlotAnswer(answer="On [date] at half past seven in the evening."),  # tells what comes later
        SlotAnswer(answer="在[date]。"),
    ],
)
async def test_an_answer_that_does_not_fit_is_worded_anew(answer: SlotAnswer) -> None:
    questions = [DAY, SlotQuestion(question="At what time?")]
    chat = scripted(questions, [answer, ON_FRIDAY, SlotAnswer(answer="[time]")])
    [sample] = await write_dialogues(plan("date", "time"), context(chat))
    assert sample.turns[3] == UserTurn(text="On March 5, 2027.")
    assert chat.left == {}


async def test_three_bad_wordings_are_a_failure_that_names_the_parameter() -> None:
    with pytest.raises(
        ReplyError, match=r"question for 'date' .* 3 wordings: 'Fine.' asks for nothing"
    ):
        await write_dialogues(
            plan("date"), context(scripted([SlotQuestion(question="Fine.")] * 3, []))
        )
    with pytest.raises(
        ReplyError, match=r"answer for 'date' .* 3 wordings: Wanted: \[date\].*Missing"
    ):
        await write_dialogues(
            plan("date"), context(scripted([DAY], [SlotAnswer(answer="then")] * 3))
        )


@given(st.integers(1, 6), st.integers())
def test_of_several_answers_one_at_least_says_what_it_is_about(count: int, seed: int) -> None:
    drawn = answer_forms(count, Random(seed))
    assert len(drawn) == count
    assert count == 1 or "sentence" in drawn


async def test_a_choice_is_said_once_in_an_answer() -> None:
    answers = set()
    for seed in range(6):
        at_hand = context(RecordingTemplateChat(seed=seed))
        [slots] = await plan_slots(derivation(imperfect("en"), seed=seed), at_hand)
        [sample] = await write_dialogues(slots, at_hand)
        answers |= {turn.text for turn in sample.turns if isinstance(turn, UserTurn)}
    chosen = [text for text in answers if any(one in text for one in ("window", "terrace", "bar"))]
    assert chosen
    assert not [text for text in chosen if ":" in text]
