"""Planted readings: a defect or the gold stands among near misses as in any reading, and what is made of it is kept."""

import asyncio
from random import Random
from types import MappingProxyType

import pytest

from callwright.generators.stages import StageContext
from callwright.llm.chat import Answer, Prompt
from callwright.testing import make_sample, make_tool
from callwright.validators.blind.choosing import check_reading
from callwright.validators.blind.planting import MEASURED, plant, planting_version, read_planted
from callwright.validators.near_misses.due import is_same_option
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import PlantedReading, Sample, UserTurn
from tests.support.validators.option_reader import OptionReader
from tests.unit.validators.test_reading import ASK, PAY, SAMPLE, calls

TOOLS = MappingProxyType({tool.key: tool for tool in (PAY, ASK)})
SEEDS = range(40)


def read(reader: OptionReader, seed: int, sample: Sample = SAMPLE) -> PlantedReading:
    context = StageContext(reader, Random(seed), TOOLS)  # type: ignore[arg-type] # a reader asks nothing else
    return asyncio.run(read_planted(sample, context, check_reading))


def test_defects_and_golds_are_planted_and_a_defect_is_never_the_gold() -> None:
    places = [plant(SAMPLE, [PAY, ASK], Random(seed)) for seed in SEEDS]
    gold = next(place.due.option for place in places if not place.defect)
    broken = [place for place in places if place.defect]
    assert 25 <= len(broken) <= 35
    assert len({place.defect for place in broken}) > 4
    assert not any(is_same_option(place.due.option, gold, place.due.tools, is_ordered=False) for place in broken)
    assert {place.due.option.act for place in broken} == {"call"}  # that nothing is called is told too easily


def test_the_same_seed_plants_the_same() -> None:
    assert plant(SAMPLE, [PAY, ASK], Random(5)) == plant(SAMPLE, [PAY, ASK], Random(5))


def test_who_always_chooses_the_gold_catches_each_defect_and_passes_each_gold() -> None:
    found = {read(OptionReader(calls()), seed).outcome for seed in SEEDS}
    assert found == {"caught", "passed"}


def test_who_chooses_what_is_planted_misses_it() -> None:
    for seed in SEEDS:
        place = plant(SAMPLE, [PAY, ASK], Random(seed))
        wanted = [{"tool": call.tool, "arguments": call.arguments} for call in place.due.calls]
        reading = read(OptionReader(wanted), seed)
        assert (reading.defect, reading.outcome) == (place.defect, "missed" if place.defect else "passed")


def test_who_chooses_nothing_doubts_all_and_so_does_who_gives_no_answer() -> None:
    class Broken(OptionReader):
        async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
            raise ReplyError("no JSON")

    for reader in (OptionReader(), Broken()):
        assert {read(reader, seed).outcome for seed in SEEDS} == {"caught", "falsely_doubted"}


def test_the_prompt_is_that_of_every_reading_and_tells_nothing_of_what_is_planted() -> None:
    reader = OptionReader(calls())
    reading = read(reader, 3)
    [prompt] = reader.prompts
    assert "plant" not in prompt
    assert reading.defect not in prompt
    [options] = reader.shown
    assert 6 <= len(options) <= 9
    assert (reading.reader, reading.check, reading.subject) == ("reader", "reading", SAMPLE.key)
    assert reading.version == planting_version(check_reading)
    assert MEASURED["reading"].templates == check_reading.templates


def test_nothing_is_planted_where_nothing_is_due() -> None:
    idle = make_sample([PAY], UserTurn(text="Good morning."), kind="irrelevant")
    with pytest.raises(RecordError, match="Nothing is due"):
        plant(idle, [PAY], Random(1))


def test_a_tool_without_arguments_has_near_misses_too() -> None:
    tool = make_tool("lock_all", "Lock all doors.")
    sample = make_sample([tool, ASK], "Lock up, please.", {"lock_all": {}})
    kinds = {plant(sample, [tool, ASK], Random(seed)).defect for seed in SEEDS}
    assert {"", "call_repeated"} <= kinds
