"""What models were asked for, what an accepted sample takes, and what is not charged to it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from callwright.flows.stages import stage_rows
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import CallTurn, GoldCall, LlmCall, Outcome, Sample, UserTurn
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

NOW = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    made = Warehouse(tmp_path / "warehouse.duckdb", patience=5)
    made.put_rows({"stages": stage_rows()})
    return made


def asked(
    stage: str,
    *,
    build: str = "b1",
    subject: str = "",
    release: str = "",
    cost: float = 0.25,
    cached: bool = False,
    error: str = "",
) -> LlmCall:
    tokens = {} if cached else {"prompt_tokens": 30, "completion_tokens": 10, "cost": cost}
    return LlmCall(
        request="00",
        build=build,
        stage=stage,
        model="m",
        prompt_version="1",
        subject=subject,
        release=release,
        cached=cached,
        error=error,
        **tokens,
    )


def landed(key: str, outcome: str = "passed") -> Row:
    return outcome_row(Outcome(build="b1", stage="land", subject=key, outcome=outcome), NOW)


def begun(key: str) -> Row:
    return {"key": key, "recipe": "small", "body": "{}", "started_at": NOW, "finished_at": None}


def sample(text: str) -> Sample:
    turns = (UserTurn(text=text), CallTurn(calls=(GoldCall(tool="weather", arguments={}),)))
    return Sample(kind="perfect", language="en", category="W", candidates=("t",), turns=turns)


def test_each_stage_tells_its_requests_and_costs_for_each_accepted_sample(
    warehouse: Warehouse,
) -> None:
    requests = [
        *(asked("requests") for _ in range(3)),
        asked("requests", cached=True),
        asked("requests", error="Cut."),
        asked("meaning"),
    ]
    warehouse.put(requests)
    outcomes = [landed("one"), landed("two"), landed("three", "failed")]
    warehouse.put_rows({"builds": [begun("b1"), begun("b2")], "outcomes": outcomes})

    rows = {row["stage"]: row for row in warehouse.rows("from costs")}

    assert set(rows) == {"requests", "meaning"}
    made = rows["requests"]
    assert [made[name] for name in ("n_accepted", "n_requests", "n_cached", "n_errors")] == [
        2,
        5,
        1,
        1,
    ]
    assert [made[f"{name}_per_accepted"] for name in ("requests", "tokens", "cost")] == [2, 80, 0.5]
    assert rows["meaning"]["requests_per_accepted"] == 0.5


def test_each_request_has_a_purpose(warehouse: Warehouse) -> None:
    warehouse.put(
        [
            asked("requests"),
            asked("reading"),
            asked("meaning"),
            asked("planted_reading"),
            asked("planted_reading", build=""),
            asked("predict", build="", release="v1"),
            asked("meaning", build="", release="v1"),
        ]
    )
    found = warehouse.rows("select purpose, sum(n_requests)::int as n from costs group by all")
    assert {row["purpose"]: row["n"] for row in found} == {
        "making": 1,
        "checking": 2,
        "measuring": 1,
        "auditing": 1,
        "evaluating": 2,
    }


def test_measuring_readers_is_not_charged_to_samples(warehouse: Warehouse) -> None:
    one, other = sample("Rain?"), sample("Snow?")
    warehouse.put([one, other])
    accepted = {"grade": "judged", "judged_by": ["m"], "accepted_by": "machine", "accepted_at": NOW}
    warehouse.put_rows(
        {
            "builds": [begun("b1")],
            "outcomes": [landed(one.key), landed(other.key)],
            "acceptances": [
                {"subject": key, "build": "b1", "recipe": "small", **accepted}
                for key in (one.key, other.key)
            ],
        }
    )
    warehouse.put(
        [
            asked("reading", subject=one.key),
            asked("reading", subject=other.key),
            asked("planted_reading", subject=one.key, cost=8),
        ]
    )
    charged = warehouse.rows("select sample, purpose, cost from sample_cost order by sample")
    assert charged == [
        {"sample": key, "purpose": "checking", "cost": 0.25} for key in sorted((one.key, other.key))
    ]
    [build] = warehouse.rows(
        "select sum(cost) as cost, sum(cost_per_accepted) as each from costs where build = 'b1'"
    )
    assert build == {"cost": 8.5, "each": 0.25}
