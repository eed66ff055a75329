"""Other values in the same words."""

from random import Random

from callwright.generators.multi_step.generalisation import ValueReplacement, reword, still_stated

TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}


def test_all_mentions_change_and_nothing_else() -> None:
    changes = [
        ValueReplacement("Bern", "Oslo", TEXT),
        ValueReplacement("2026-12-05", "2027-01-09", DAY),
    ]
    text = reword("To Bern on 2026-12-05, and a hotel in Bern!", changes, "en", Random(1))
    assert text == "To Oslo on 2027-01-09, and a hotel in Oslo!"


def test_an_old_text_that_is_left_over_is_noticed() -> None:
    changes = [ValueReplacement("Bern", "Oslo", TEXT)]
    assert still_stated("Oslo, or rather the Bernese Alps", changes)
    assert not still_stated("Oslo", changes)
    assert not still_stated("New York", [ValueReplacement("York", "New York", TEXT)])
