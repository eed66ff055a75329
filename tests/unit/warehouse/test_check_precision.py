"""The view `check_precision`: what is bad, who saw it, and who saw it first."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.warehouse.records import (
    CallTurn,
    Decision,
    GoldCall,
    Origin,
    Review,
    Sample,
    UserTurn,
    Verdict,
)
from callwright.warehouse.records.evaluation import ReviewDecision
from callwright.warehouse.store import Warehouse

NOW = datetime(2026, 11, 21, tzinfo=UTC)
STAGES = ("grounding", "dialogue", "consistency")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    kept = Warehouse(tmp_path / "warehouse.duckdb", patience=5)
    row = {"stage_group": "consistency", "source": ""}
    kept.put_rows(
        {"stages": [{"name": name, "position": at, **row} for at, name in enumerate(STAGES)]}
    )
    return kept


def sample(
    text: str, *, planted: str = "", model: str = "template/v1", is_due: bool = True
) -> Sample:
    due = (GoldCall(tool="weather", arguments={"city": "Oslo"}),) if is_due else ()
    return Sample(
        kind="perfect" if is_due else "irrelevant",
        language="en",
        category="Weather",
        candidates=("k",),
        turns=(UserTurn(text=text), CallTurn(calls=due)),
        origin=Origin(stage="requests", model=model, planted=planted),
    )


def verdict(about: Sample, check: str, decision: Decision) -> Verdict:
    return Verdict(subject=about.key, check=check, decision=decision)


def review(about: Sample, decision: ReviewDecision) -> Review:
    return Review(
        subject=about.key, kind="samples", decision=decision, reviewer="one", reviewed_at=NOW
    )


def measured(warehouse: Warehouse) -> dict[str, dict[str, Any]]:
    sql = (
        "select check_name, n_judged, n_bad, caught_share, alarm_share, n_caught_first"
        " from check_precision"
    )
    return {row.pop("check_name"): row for row in warehouse.rows(sql)}


def test_a_check_answers_for_what_it_has_judged_only(warehouse: Warehouse) -> None:
    stopped, passed, good = (
        sample("a", planted="wrong_argument"),
        sample("b", planted="wrong_argument"),
        sample("c"),
    )
    warehouse.put([stopped, passed, good, verdict(stopped, "grounding", "contradicted")])
    warehouse.put([verdict(one, "grounding", "proved") for one in (passed, good)])
    warehouse.put([verdict(passed, "dialogue", "unproved"), verdict(good, "dialogue", "unproved")])
    assert measured(warehouse) == {
        "grounding": {
            "n_judged": 3,
            "n_bad": 2,
            "caught_share": 0.5,
            "alarm_share": 0.0,
            "n_caught_first": 1,
        },
        "dialogue": {
            "n_judged": 2,
            "n_bad": 1,
            "caught_share": 1.0,
            "alarm_share": 1.0,
            "n_caught_first": 1,
        },
    }


@pytest.mark.parametrize(("decision", "bad"), [("accept", 0), ("edit", 1), ("reject", 1)])
@pytest.mark.parametrize("planted", ["", "wrong_argument"])
def test_what_a_person_says_counts_before_what_was_planted(
    warehouse: Warehouse, decision: ReviewDecision, bad: int, planted: str
) -> None:
    one = sample("a", planted=planted)
    warehouse.put([one, verdict(one, "grounding", "proved"), review(one, decision)])
    assert measured(warehouse)["grounding"]["n_bad"] == bad


def test_what_nobody_knows_about_is_left_out(warehouse: Warehouse) -> None:
    other = sample("a", planted="wrong_tool", is_due=False)
    foreign = sample("b", model="openai/some-model")
    warehouse.put(
        [
            other,
            foreign,
            verdict(other, "grounding", "proved"),
            verdict(foreign, "grounding", "unproved"),
        ]
    )
    assert measured(warehouse) == {}
    warehouse.put([review(foreign, "accept")])
    assert measured(warehouse)["grounding"]["alarm_share"] == 1.0
