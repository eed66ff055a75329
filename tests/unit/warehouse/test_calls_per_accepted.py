"""What an accepted sample takes, stage by stage."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import LlmCall, Outcome
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

NOW = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb", patience=5)


def asked(
    stage: str, *, build: str = "b1", cost: float = 0.25, cached: bool = False, error: str = ""
) -> LlmCall:
    tokens = {} if cached else {"prompt_tokens": 30, "completion_tokens": 10, "cost": cost}
    return LlmCall(
        request="00",
        build=build,
        stage=stage,
        model="m",
        prompt_version="1",
        cached=cached,
        error=error,
        **tokens,
    )


def landed(key: str, outcome: str = "passed") -> Row:
    return outcome_row(Outcome(build="b1", stage="land", subject=key, outcome=outcome), NOW)


def begun(key: str) -> Row:
    return {"key": key, "recipe": "small", "body": "{}", "started_at": NOW, "finished_at": None}


def test_each_stage_tells_its_calls_and_costs_for_each_accepted_sample(
    warehouse: Warehouse,
) -> None:
    calls = [
        *(asked("requests") for _ in range(3)),
        asked("requests", cached=True),
        asked("requests", error="Cut."),
        asked("meaning"),
    ]
    warehouse.put([*calls, asked("judge", build="")])
    outcomes = [landed("one"), landed("two"), landed("three", "failed")]
    warehouse.put_rows({"builds": [begun("b1"), begun("b2")], "outcomes": outcomes})

    rows = {row["stage"]: row for row in warehouse.rows("from calls_per_accepted")}

    assert set(rows) == {"requests", "meaning"}, "what no build asked counts for none"
    requests = rows["requests"]
    assert (requests["accepted"], requests["calls"], requests["cached"], requests["errors"]) == (
        2,
        4,
        1,
        1,
    )
    assert (
        requests["calls_per_accepted"],
        requests["tokens_per_accepted"],
        requests["cost_per_accepted"],
    ) == (2, 80, 0.5)
    assert rows["meaning"]["calls_per_accepted"] == 0.5
    [whole] = warehouse.rows("from cost_per_accepted where build = 'b1'")
    assert whole["calls"] == sum(row["calls"] for row in rows.values())
