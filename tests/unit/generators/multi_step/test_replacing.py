"""Other values in the same words."""

import re
from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.multi_step.generalisation import (
    ValueReplacement,
    mentions,
    reword,
    still_stated,
)
from callwright.language.values import locate

TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}
CITIES = st.sampled_from(["Oslo", "Bern", "Graz", "São Paulo", "New York"])
DAYS = st.dates(date(2001, 1, 1), date(2089, 12, 31)).map(lambda day: day.isoformat())


def test_every_mention_is_found() -> None:
    assert [
        (one.start, one.end) for one in mentions("Bern", TEXT, "Bern, then Thun, then bern.")
    ] == [(0, 4), (22, 26)]
    assert mentions("Bern", TEXT, "Thun") == []


def test_all_mentions_change_and_nothing_else() -> None:
    changes = [
        ValueReplacement("Bern", "Oslo", TEXT),
        ValueReplacement("2026-12-05", "2027-01-09", DAY),
    ]
    text = reword("To Bern on 2026-12-05, and a hotel in Bern!", changes, "en", Random(1))
    assert text == "To Oslo on 2027-01-09, and a hotel in Oslo!"


def test_the_longer_of_two_that_overlap_is_changed() -> None:
    changes = [
        ValueReplacement("Bern", "Oslo", TEXT),
        ValueReplacement("Grand Bern Hotel", "Fjord House", TEXT),
    ]
    assert (
        reword("The Grand Bern Hotel in Bern.", changes, "en", Random(1))
        == "The Fjord House in Oslo."
    )


def test_an_old_text_that_is_left_over_is_noticed() -> None:
    changes = [ValueReplacement("Bern", "Oslo", TEXT)]
    assert still_stated("Oslo, or rather the Bernese Alps", changes)
    assert not still_stated("Oslo", changes)
    assert not still_stated("New York", [ValueReplacement("York", "New York", TEXT)])


def test_a_sentence_keeps_its_full_stop() -> None:
    clock = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
    for seed in range(12):
        text = reword(
            "Be there by 5 p.m. Then call.",
            [ValueReplacement("17:00", "10:30", clock)],
            "en",
            Random(seed),
        )
        assert ". Then call." in text


@pytest.mark.parametrize(
    "said", ["at 16:00 on September 20, 2027", "on September 20, 2027 at 4 pm"]
)
def test_a_day_and_a_time_keep_their_order_and_so_their_preposition(said: str) -> None:
    moment = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"}
    change = ValueReplacement("2027-09-20 16:00", "2027-11-14 09:30", moment)
    for seed in range(12):
        text = reword(f"A taxi leaving {said}.", [change], "en", Random(seed))
        assert locate(change.new, moment, text) is not None
        assert re.search(r"leaving at (?:\d{1,2}[: ]|[a-z])|leaving on (?:the )?[A-Z\d]", text), (
            text
        )
        assert said[3:] not in text


@given(CITIES, CITIES, DAYS, DAYS, st.integers(0, 99))
def test_what_was_replaced_can_be_located_again(
    old: str, new: str, day: str, other: str, seed: int
) -> None:
    changes = [ValueReplacement(old, new, TEXT), ValueReplacement(day, other, DAY)]
    text = reword(f"A room in {old} from {day} on.", changes, "en", Random(seed))
    assert locate(new, TEXT, text) is not None
    assert locate(other, DAY, text) is not None
