"""The view `reader_precision`: shares of what was planted, their intervals, and the precision
that follows.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.testing import make_sample, make_tool
from callwright.validators.metrics.ratios import share_interval
from callwright.warehouse.records import (
    Decision,
    PlantedReading,
    ReadingOutcome,
    Review,
    Sample,
    Verdict,
)
from callwright.warehouse.store import Warehouse

NOW = datetime(2026, 11, 23, tzinfo=UTC)
RUN = make_tool(
    "run_bath", "Run a bath.", degrees="integer", litres="integer", required=["degrees", "litres"]
)
OFF = make_tool("drain_bath", "Empty the bath.", minutes="integer")
BATHS = [
    make_sample(
        [RUN, OFF],
        f"A bath of {at} degrees, {90 + at} litres.",
        {"run_bath": {"degrees": at, "litres": 90 + at}},
    )
    for at in range(30, 90)
]


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    kept = Warehouse(tmp_path / "warehouse.duckdb", patience=5)
    kept.put(BATHS)
    return kept


def of_build(build: str, samples: Iterable[Sample]) -> list[dict[str, str]]:
    return [{"build": build, "sample": one.key, "draft": one.key} for one in samples]


def reading(
    sample: Sample, outcome: ReadingOutcome, defect: str = "", reader: str = "r"
) -> PlantedReading:
    return PlantedReading(
        subject=sample.key,
        check="reading",
        reader=reader,
        turn=1,
        defect=defect,
        outcome=outcome,
        version="1",
    )


def verdict(sample: Sample, decision: Decision, reader: str = "r") -> Verdict:
    return Verdict(subject=sample.key, check="reading", decision=decision, model=reader)


def figures(warehouse: Warehouse, **where: str) -> dict[str, Any]:
    rows = warehouse.rows(
        "select * from reader_precision where defect = ?", [where.get("defect", "")]
    )
    assert len(rows) == 1
    return rows[0]


def test_shares_have_wilson_s_intervals(warehouse: Warehouse) -> None:
    outcomes: list[tuple[ReadingOutcome, str]] = [
        *[("caught", "no_call")] * 7,
        *[("missed", "day_shifted")] * 2,
        *[("passed", "")] * 4,
        ("falsely_doubted", ""),
    ]
    warehouse.put(reading(one, *found) for one, found in zip(BATHS, outcomes, strict=False))
    warehouse.put_rows({"build_samples": of_build("b", BATHS)})
    row = figures(warehouse)
    assert (
        row["n_planted"],
        row["n_caught"],
        row["n_missed"],
        row["n_doubles"],
        row["n_doubted_doubles"],
    ) == (9, 7, 2, 5, 1)
    assert (row["caught_low"], row["caught_high"]) == pytest.approx(share_interval(7, 9))
    assert (row["false_doubt_low"], row["false_doubt_high"]) == pytest.approx(share_interval(1, 5))
    assert figures(warehouse, defect="day_shifted")["n_missed"] == 2
    assert (row["n_read"], row["precision"]) == (0, None)


@pytest.mark.parametrize("whole", [1, 4, 40, 1000])
def test_the_interval_in_sql_is_the_one_of_the_metrics(warehouse: Warehouse, whole: int) -> None:
    rows = warehouse.rows(
        "select m.met, share_interval(m.met, ?) as found from (select unnest(range(0, ? + 1)) as"
        " met) m",
        [whole, whole],
    )
    for row in rows:
        assert tuple(row["found"].values()) == pytest.approx(
            share_interval(row["met"], whole), abs=1e-9
        )
    assert warehouse.rows("select share_interval(0, 0) as found") == [{"found": None}]


def test_precision_follows_from_doubts_misses_and_false_doubts(warehouse: Warehouse) -> None:
    # Of 60 read 12 were doubted. A reader that misses 1 of 5 and doubts 1 of 10 for nothing has
    # read (0.2 - 0.1) / 0.7 wrong ones.
    warehouse.put(verdict(one, "unproved" if at < 12 else "proved") for at, one in enumerate(BATHS))
    outcomes: list[tuple[ReadingOutcome, str]] = [
        *[("caught", "x")] * 16,
        *[("missed", "x")] * 4,
        *[("passed", "")] * 18,
        *[("falsely_doubted", "")] * 2,
    ]
    warehouse.put(reading(one, *found) for one, found in zip(BATHS, outcomes, strict=False))
    warehouse.put_rows({"build_samples": of_build("b", BATHS)})
    row = figures(warehouse)
    assert (row["n_read"], row["n_doubted"]) == (60, 12)
    assert row["precision"] == pytest.approx(1 - 0.2 * (0.1 / 0.7) / 0.8)
    missed, doubted, alarms = (
        1 - row["caught_low"],
        share_interval(12, 60).high,
        row["false_doubt_low"],
    )
    assert row["precision_low"] == pytest.approx(
        1 - missed * (doubted - alarms) / (1 - alarms - missed) / 0.8
    )


def test_a_reader_that_was_not_measured_has_a_row_that_says_so(warehouse: Warehouse) -> None:
    warehouse.put(verdict(one, "proved") for one in BATHS)
    warehouse.put_rows({"build_samples": of_build("b", BATHS)})
    row = figures(warehouse)
    assert (
        row["n_read"],
        row["n_planted"],
        row["caught_share"],
        row["precision"],
        row["precision_low"],
    ) == (60, 0, *[None] * 3)


def test_what_a_person_turned_away_is_no_gold_to_be_measured_by(warehouse: Warehouse) -> None:
    warehouse.put([reading(BATHS[0], "falsely_doubted"), reading(BATHS[1], "passed")])
    warehouse.put_rows({"build_samples": of_build("b", BATHS)})
    warehouse.put(
        [
            Review(
                subject=BATHS[0].key,
                kind="sample_review",
                decision="reject",
                reviewer="one",
                reviewed_at=NOW,
            )
        ]
    )
    assert (figures(warehouse)["n_doubles"], figures(warehouse)["n_doubted_doubles"]) == (1, 0)


def test_a_sample_is_worth_what_its_readers_are_and_nothing_where_one_is_not_measured(
    warehouse: Warehouse,
) -> None:
    stages = {"reading": ["deed"], "relevance": ["deed"], "natural": []}
    same = {
        "stage_group": "consistency",
        "source": "",
        "role": "checker",
        "is_left_to_readers": False,
    }
    rows = [
        {"name": name, "position": at, "settles": claims, **same}
        for at, (name, claims) in enumerate(stages.items())
    ]
    warehouse.put_rows({"stages": rows, "build_samples": of_build("b", BATHS)})
    warehouse.put(verdict(one, "proved") for one in BATHS[:40])
    warehouse.put(
        [Verdict(subject=BATHS[1].key, check="natural", decision="proved", model="other")]
    )
    warehouse.put(
        [
            Verdict(subject=BATHS[at].key, check="relevance", decision="proved", model="r")
            for at in (2, 50)
        ]
    )
    warehouse.put(
        reading(one, "caught", "x") if at % 4 else reading(one, "passed")
        for at, one in enumerate(BATHS[:40])
    )
    known = figures(warehouse)["precision_low"]
    found = {
        row.pop("subject"): row
        for row in warehouse.rows("select * exclude (build) from judged_precision")
    }
    assert (
        found[BATHS[0].key]
        == found[BATHS[1].key]
        == {"readers": ["r"], "precision": 1.0, "precision_low": known}
    )
    for at in (2, 50):  # nothing measures the relevance
        assert found[BATHS[at].key] == {"readers": ["r"], "precision": None, "precision_low": None}
    assert 0.9 < known < 1


def test_a_reader_is_trusted_by_its_worst_sort_and_by_what_it_agrees_with(
    warehouse: Warehouse,
) -> None:
    outcomes: list[tuple[ReadingOutcome, str]] = [
        *[("caught", "day_beside")] * 30,
        *[("missed", "unit_off")] * 5,
        ("caught", "unit_off"),
        ("passed", ""),
        *[("missed", "flag_turned")] * 4,  # too few to tell
    ]
    warehouse.put(reading(one, *found) for one, found in zip(BATHS, outcomes, strict=False))
    warehouse.put_rows({"build_samples": of_build("b", BATHS)})
    warehouse.put(
        [verdict(one, "proved" if at % 4 else "unproved") for at, one in enumerate(BATHS[:8])]
    )
    [row] = warehouse.rows("select * from reader_trust")
    assert (row["n_planted"], row["n_caught"], row["worst_defect"], row["n_worst_planted"]) == (
        40,
        31,
        "unit_off",
        6,
    )
    assert row["worst_share"] == pytest.approx(1 / 6)
    assert row["worst_high"] == pytest.approx(share_interval(1, 6).high)
    assert (row["n_read"], row["agreed_share"]) == (8, 0.75)
