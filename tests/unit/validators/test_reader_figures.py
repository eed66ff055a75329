"""Figures of readers that read the same, and which of them is the cheapest that is good enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from callwright.validators.reading.planting import (
    ReaderFigures,
    cheapest,
    figures_of,
    wrong_among_chosen,
)
from callwright.warehouse.records import PlantedReading, ReadingOutcome

SHARES = some.floats(0, 1)


def readings(sort: str = "x", **counts: int) -> list[PlantedReading]:
    return [
        PlantedReading(
            subject=f"{outcome}{at}",
            check="reading",
            reader="r",
            turn=1,
            outcome=outcome,
            version="1",
            defect=sort if outcome in {"caught", "missed"} else "",
        )
        for outcome, count in counts.items()
        for at in range(count)
    ]  # type: ignore[misc] # the outcomes are those of the type


def figures(model: str = "r", dollars: float | None = 1.0, **counts: int) -> ReaderFigures:
    return figures_of(model, readings(**counts), 0.1, dollars=dollars)


def test_counts_shares_and_what_follows() -> None:
    found = figures(caught=8, missed=2, passed=9, falsely_doubted=1)
    assert (found.planted, found.catch_rate, found.doubles, found.false_doubts) == (
        10,
        0.8,
        10,
        0.1,
    )
    assert found.wrong == pytest.approx(0.02 / (0.02 + 0.81))
    assert found.catch_low is not None
    assert found.doubts_high is not None
    assert found.most_wrong == pytest.approx(
        wrong_among_chosen(0.1, 1 - found.catch_low, found.doubts_high)
    )


def test_what_was_not_planted_is_not_known() -> None:
    found = figures(passed=3)
    assert (found.catch_rate, found.wrong, found.most_wrong) == (None, None, None)
    assert (
        figures(caught=3).most_wrong == 1.0
    )  # who doubted every right one would choose wrong ones alone


@given(SHARES, SHARES, SHARES)
def test_more_misses_leave_more_wrong(before: float, missed: float, doubted: float) -> None:
    found = wrong_among_chosen(before, missed, doubted)
    assert 0 <= found <= 1
    assert found <= wrong_among_chosen(before, 1.0, doubted) + 1e-9


@given(some.integers(0, 50), some.integers(0, 50), some.integers(0, 50), some.integers(0, 50))
def test_what_may_be_wrong_is_no_less_than_what_is_expected(
    caught: int, missed: int, passed: int, doubted: int
) -> None:
    counts: dict[ReadingOutcome, int] = {
        "caught": caught,
        "missed": missed,
        "passed": passed,
        "falsely_doubted": doubted,
    }
    found = figures(**counts)
    if found.wrong is not None and found.most_wrong is not None:
        assert found.wrong <= found.most_wrong + 1e-9


def test_the_cheapest_that_is_good_enough_is_named_and_nobody_whose_price_is_unknown() -> None:
    good, better = {"caught": 200, "passed": 100}, {"caught": 300, "passed": 150}
    dear, cheap, free = (
        figures("dear", 2.0, **better),
        figures("cheap", 0.5, **good),
        figures("free", None, **better),
    )
    poor = figures("poor", 0.0, caught=100, missed=100, passed=100)
    assert cheapest([dear, cheap, free, poor], 0.02) == cheap
    assert cheapest([dear, poor], 0.02) == dear
    assert cheapest([poor, free], 0.02) is None
    assert cheapest([dear, dear._replace(model="as dear", most_wrong=0.0)], 0.02).model == "as dear"  # type: ignore[union-attr]


def test_the_worst_sort_decides_whether_a_reader_settles_anything() -> None:
    good, bad = readings("day", caught=99, passed=40), readings("unit", caught=3, missed=6)
    assert figures_of("r", good, 0.1).problem == ""
    found = figures_of("r", [*good, *bad], 0.1)
    assert found.catch_rate is not None
    assert found.catch_rate > 0.9
    assert found.problem == "caught 3 of 9 planted defects of the sort unit"
    assert [one.defect for one in found.sorts] == ["unit", "day"]
    assert found.sorts[0].low < 3 / 9 < found.sorts[0].high


def test_who_catches_too_little_or_agrees_with_too_little_settles_nothing() -> None:
    assert "caught 8 of 10" in figures(caught=8, missed=2, passed=10).problem
    assert "agreed with 4 of 10" in figures(caught=10, passed=4, falsely_doubted=6).problem
    assert figures(passed=10).problem == "has read nothing that was planted"
