"""Planted readings: what a reader wrote is held against a defect as people make them, or against
the gold as it is.
"""

import asyncio
from random import Random

from callwright.testing import context_of, make_sample, make_tool
from callwright.validators.reading.defects import MAKERS, PLANTED, of_maker
from callwright.validators.reading.planting import (
    PLANTED_READING,
    plant,
    planting_version,
    read_planted,
)
from callwright.validators.reading.points import do_the_same, due_points
from callwright.warehouse.records import PlantedReading, Sample
from tests.support.validators.blind_readers import FirstReader, KnowingReader, PromptReader
from tests.unit.validators.test_reading import SAMPLE, TOOLS, Replying, call

SEEDS = range(40)
TABLE = make_tool(
    "book_table",
    "Book a table.",
    place="string",
    day={"type": "string", "format": "date"},
    time={"type": "string", "pattern": r"^\d\d:\d\d$"},
    guests="integer",
    terrace="boolean",
    dishes={"type": "array", "items": {"type": "string"}},
    required=["place", "guests"],
)
CANCEL = make_tool("cancel_table", "Cancel a table.", place="string", required=["place"])
BOOKED = {
    "place": "Kora",
    "day": "2027-05-04",
    "time": "07:30",
    "guests": 4,
    "terrace": True,
    "dishes": ["soup", "rice"],
}
BOOKING = make_sample(
    [TABLE, CANCEL],
    "A table for 4 at Kora on 4 May at half past seven, not 8 people, terrace, soup and rice.",
    {"book_table": BOOKED},
)


def read(reader: PromptReader, seed: int, sample: Sample = SAMPLE) -> PlantedReading:
    planted = plant(sample, TOOLS, Random(seed))
    return asyncio.run(read_planted(sample, planted, context_of(TOOLS, reader)))


def test_defects_and_golds_are_planted_and_a_defect_is_never_the_gold() -> None:
    planted = [plant(SAMPLE, TOOLS, Random(seed)) for seed in SEEDS]
    broken = [one for one in planted if one.defect]
    assert 25 <= len(broken) <= 35
    assert len({one.defect for one in broken}) > 3
    assert not any(
        do_the_same(one.claimed.calls, one.point.calls, one.point.tools, is_ordered=False)
        for one in broken
    )
    assert all(one.claimed == one.point for one in planted if not one.defect)


def test_the_same_seed_plants_the_same() -> None:
    assert plant(SAMPLE, TOOLS, Random(5)) == plant(SAMPLE, TOOLS, Random(5))


def test_defects_are_those_that_people_make_out_of_the_words_of_the_request() -> None:
    [point] = due_points(BOOKING, [TABLE, CANCEL])
    made = {
        maker.name: [one.calls for one in of_maker(maker, point, Random(1))] for maker in MAKERS
    }
    first = {name: calls[0][0] for name, calls in made.items() if calls and calls[0]}
    assert 8 in [calls[0].arguments["guests"] for calls in made["other_mention"]]
    assert first["half_day_off"].arguments["time"] == "19:30"
    assert first["day_beside"].arguments["day"] == "2027-05-05"
    assert len(first["list_short"].arguments["dishes"]) == 1  # type: ignore[arg-type]
    assert first["sibling_tool"].tool == "cancel_table"
    assert first["flag_turned"].arguments["terrace"] is False
    assert "said_left_out" in first
    assert {one.name for one in PLANTED} < {one.name for one in MAKERS}


def test_who_knows_the_truth_catches_each_defect_and_passes_each_gold() -> None:
    found = {read(KnowingReader(call(), tools=TOOLS), seed).outcome for seed in SEEDS}
    assert found == {"caught", "passed"}


def test_who_writes_what_is_planted_misses_it() -> None:
    for seed in SEEDS:
        planted = plant(SAMPLE, TOOLS, Random(seed))
        reading = read(KnowingReader(*planted.claimed.calls, tools=TOOLS), seed)
        assert (reading.defect, reading.outcome) == (
            planted.defect,
            "missed" if planted.defect else "passed",
        )


def test_who_reads_nothing_doubts_all_and_so_does_who_gives_no_answer() -> None:
    for reader in (FirstReader(), Replying(None)):
        assert {read(reader, seed).outcome for seed in SEEDS} == {"caught", "falsely_doubted"}


def test_what_is_written_is_asked_as_in_the_check_so_that_it_is_paid_once() -> None:
    prompts = set()
    for seed in SEEDS:
        reader = KnowingReader(call(), tools=TOOLS)
        reading = read(reader, seed)
        prompts.add(reader.prompts[0])
        assert reading.version == planting_version()
    assert len(prompts) == 1
    assert "plant" not in prompts.pop()
    assert (reading.reader, reading.check, reading.subject) == ("reader", "reading", SAMPLE.key)
    assert PLANTED_READING.role == "checker"
