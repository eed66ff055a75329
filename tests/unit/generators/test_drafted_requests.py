"""Values and words come in one answer (HammerBench D.2); only words that do not say the values
are asked for again.
"""

from random import Random

import pytest
from pydantic import JsonValue

from callwright.generators.single_turn.making import draft_requests, write_requests
from callwright.generators.stages import StageContext
from callwright.testing import ScriptedModel
from callwright.warehouse.records import Assignment, Origin, ParameterChoice, Sample, Tool, UserTurn

TOOL = Tool(
    name="book_train",
    description="Book a train.",
    category="Trains",
    parameters={
        "type": "object",
        "properties": {
            "destination": {"type": "string"},
            "seats": {"type": "integer", "minimum": 1},
        },
        "required": ["destination", "seats"],
    },
)
WORDED: dict[str, JsonValue] = {
    "request": "Two seats to Kiel, please.",
    "mentions": [
        {"parameter": "destination", "words": "Kiel"},
        {"parameter": "seats", "words": "Two"},
    ],
}
VALUES: list[JsonValue] = {"destination": "Kiel", "seats": 2}


async def made(*answers: JsonValue) -> tuple[Sample, list[str]]:
    """The sample that comes of these answers in turn, and the prompts that were asked."""
    chat = AnswersInTurn(list(answers))
    assignment = Assignment(
        kind="perfect",
        language="en",
        category="Trains",
        tool=TOOL.key,
        candidates=(TOOL.key,),
        parameter_count=2,
        seed=5,
        origin=Origin(stage="assignments"),
    )
    context = StageContext(chat, Random(0), {TOOL.key: TOOL}, {})
    [draft] = await draft_requests(
        ParameterChoice(assignment=assignment, parameters=("destination", "seats")), context
    )
    [sample] = await write_requests(draft, context)
    return sample, chat.names


class AnswersInTurn(ScriptedModel):
    """Gives one answer after the other, whatever it is asked."""

    def __init__(self, answers: list[JsonValue]) -> None:
        super().__init__({})
        self._answers = answers
        self.names: list[str] = []

    async def ask(self, prompt, answer, *, sample_index=0):  # type: ignore[no-untyped-def]
        self.names.append(prompt.name)
        return answer.model_validate(self._answers.pop(0))


async def test_one_answer_makes_a_sample() -> None:
    sample, asked = await made({"values": VALUES, **WORDED})
    assert asked == ["draft_request"]
    assert isinstance(sample.turns[0], UserTurn)
    assert sample.turns[0].text == WORDED["request"]
    assert sample.gold[0].arguments == {"destination": "Kiel", "seats": 2}
    assert {one.argument: one.quote for one in sample.gold[0].evidence} == {
        "destination": "Kiel",
        "seats": "Two",
    }
    assert sample.origin.stage == "requests"
    assert sample.origin.prompt_version


@pytest.mark.parametrize(
    "request_text", ["Three seats to Kiel, please.", "", "给我订两张去基尔的票。"]
)
async def test_words_that_do_not_say_the_values_are_asked_for_again_and_the_values_stay(
    request_text: str,
) -> None:
    first = {"values": VALUES, "request": request_text, "mentions": []}
    sample, asked = await made(first, WORDED)
    assert asked == ["draft_request", "write_request"]
    assert sample.gold[0].arguments == {"destination": "Kiel", "seats": 2}


async def test_words_of_an_answer_whose_values_do_not_do_are_not_kept() -> None:
    unfit = {"values": {"destination": "Kiel", "seats": 0}, **WORDED}
    sample, asked = await made(unfit, {"values": VALUES, **WORDED})
    assert asked == ["draft_request"] * 2
    assert sample.gold[0].arguments["seats"] == 2
