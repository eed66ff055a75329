"""What the judge's two scores say of a sample, and of whom the check is asked."""

import pytest

from callwright.flows.run.work import Chats
from callwright.llm.limits import Budget
from callwright.testing import ScriptedModel, context_of
from callwright.validators.checks.table import all_checks
from callwright.validators.checks.wording import NaturalReading, check_natural
from callwright.warehouse.records import CallTurn, Sample, Tool
from tests.support.llm.names import PLAIN


def reading(wording: int, values: int, *broken: str) -> NaturalReading:
    return NaturalReading(
        wording_reason="So.",
        wording=wording,
        values_reason="So it is.",
        values=values,
        broken=[*broken],
    )


@pytest.mark.parametrize(
    ("wording", "values", "decision"),
    [
        (5, 5, "proved"),
        (4, 4, "proved"),
        (3, 4, "unproved"),
        (4, 3, "unproved"),
        (2, 5, "unproved"),
        (5, 2, "unproved"),
        (5, 1, "contradicted"),
        (1, 5, "contradicted"),
    ],
)
async def test_the_lower_score_decides(
    perfect: Sample, tools: dict[str, Tool], wording: int, values: int, decision: str
) -> None:
    chat = ScriptedModel({"judge_natural": [reading(wording, values)]})
    [verdict] = await check_natural(perfect, context_of(tools, chat))
    assert verdict.decision == decision
    assert f"Wording {wording} of 5" in verdict.reason
    assert perfect.request in chat.asked[0].messages[-1].content


async def test_a_sentence_of_the_document_that_the_call_breaks_is_a_doubt(
    perfect: Sample, tools: dict[str, Tool]
) -> None:
    chat = ScriptedModel({"judge_natural": [reading(5, 5, "Give a day or a week.")]})
    [verdict] = await check_natural(perfect, context_of(tools, chat))
    assert verdict.decision == "unproved"
    assert [(one.kind, one.other) for one in verdict.doubts] == [
        ("judged_broken", "Give a day or a week.")
    ]


async def test_a_whole_call_lacks_nothing_that_a_description_demands(
    perfect: Sample, tools: dict[str, Tool]
) -> None:
    [call] = perfect.all_calls
    lacking = call.with_changes(arguments={})
    turns = tuple(
        turn.with_changes(calls=(lacking,)) if isinstance(turn, CallTurn) else turn
        for turn in perfect.turns
    )
    for sample, is_whole in ((perfect, True), (perfect.with_changes(turns=turns), False)):
        chat = ScriptedModel({"judge_natural": [reading(5, 5)]})
        await check_natural(sample, context_of(tools, chat))
        told = "yes" if is_whole else "no"
        assert f"<whole>{told}</whole>" in chat.asked[0].messages[-1].content


def test_a_grammar_in_the_judges_place_is_not_asked() -> None:
    natural = next(stage for stage in all_checks() if stage.name == "natural")
    for name, is_asked in (("template/v1", False), (PLAIN, True)):
        chats = Chats({"judge": ScriptedModel({}, name=name)}, 1, Budget(None))  # type: ignore[dict-item]
        assert chats.can_answer(natural) is is_asked
