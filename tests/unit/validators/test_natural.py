"""What the judge's two scores say of a sample, and of whom the check is asked."""

import pytest

from callwright.flows.chats import Chats
from callwright.llm.limits import Budget
from callwright.testing import ScriptedModel, context_of
from callwright.validators.blind.choosing import ToldChoice, check_reading
from callwright.validators.blind.planting import read_planted
from callwright.validators.checks.table import all_checks, has_rest
from callwright.validators.checks.wording import NaturalReading, check_natural
from callwright.warehouse.records import Origin, Sample, Tool, Verdict
from tests.support.llm.names import PLAIN
from tests.support.validators.option_reader import OptionReader

TOLD = ToldChoice(asked=["A"])


def reading(wording: int, values: int) -> NaturalReading:
    return NaturalReading(wording_reason="So.", wording=wording, values_reason="So it is.", values=values)


@pytest.mark.parametrize(
    ("wording", "values", "decision"),
    [
        (5, 5, "proved"),
        (3, 4, "proved"),
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


async def natural_of(reader: OptionReader, sample: Sample, tools: dict[str, Tool]) -> list[Verdict]:
    """What a reading by choice tells of how the sample sounds."""
    _, *told = await check_reading(sample, context_of(tools, reader))
    return told


@pytest.mark.parametrize(("score", "decision"), [(5, "proved"), (2, "unproved"), (1, "contradicted")])
async def test_who_reads_blind_tells_in_the_same_reply_how_it_sounds(
    perfect: Sample, tools: dict[str, Tool], score: int, decision: str
) -> None:
    reader = OptionReader(sounds=score)
    [natural] = await natural_of(reader, perfect, tools)
    assert (natural.check, natural.version, natural.decision) == ("natural", check_natural.version, decision)
    assert len(reader.prompts) == 1


@pytest.mark.parametrize("name", ["template/v1", "maker"])
async def test_neither_a_grammar_nor_who_worded_it_tells_how_it_sounds(
    perfect: Sample, tools: dict[str, Tool], name: str
) -> None:
    made = perfect.with_changes(origin=Origin(stage="requests", model="maker"))
    assert await natural_of(OptionReader(name=name), made, tools) == []


async def test_what_was_told_is_not_asked_again_and_what_was_not_is(perfect: Sample, tools: dict[str, Tool]) -> None:
    context = context_of(tools)
    [told] = await natural_of(OptionReader(), perfect, tools)
    assert not await has_rest(check_natural, perfect, context, [told])
    assert await has_rest(check_natural, perfect, context, [])


async def test_a_reading_without_scores_is_a_reading_all_the_same(perfect: Sample, tools: dict[str, Tool]) -> None:
    [verdict] = await check_reading(perfect, context_of(tools, ScriptedModel({"choose_calls": [TOLD]})))
    assert (verdict.check, verdict.score) == ("reading", float(verdict.decision == "proved"))


async def test_planted_readings_are_asked_what_readings_are(perfect: Sample, tools: dict[str, Tool]) -> None:
    reading, planted = ScriptedModel({"choose_calls": [TOLD]}), ScriptedModel({"choose_calls": [TOLD]})
    await check_reading(perfect, context_of(tools, reading))
    await read_planted(perfect, context_of(tools, planted), check_reading)
    [asked], [measured] = reading.asked, planted.asked
    assert asked.messages[0] == measured.messages[0]
    assert "how the person's words sound" in asked.messages[0].content


def test_a_grammar_in_the_judges_place_is_not_asked() -> None:
    natural = next(stage for stage in all_checks() if stage.name == "natural")
    for name, is_asked in (("template/v1", False), (PLAIN, True)):
        chats = Chats({"judge": ScriptedModel({}, name=name)}, 1, Budget(None))  # type: ignore[dict-item]
        assert chats.can_answer(natural) is is_asked
