"""Landing where DuckDB keeps no keys: each row is there once all the same."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import Outcome
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def outcome_of(subject: str, outcome: str, *, minute: int = 0, stage: str = "format") -> Row:
    made_at = NOON + timedelta(minutes=minute)
    return outcome_row(Outcome(build="b", stage=stage, subject=subject, outcome=outcome), made_at)


def acceptance(subject: str, by: str) -> Row:
    return {
        "subject": subject,
        "build": "b",
        "recipe": "r",
        "grade": "proved",
        "judged_by": [],
        "accepted_by": by,
        "accepted_at": NOON,
        "withdrawn_at": None,
    }


@settings(max_examples=12)  # a file each
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.sampled_from(["passed", "failed", "waiting"])),
            max_size=5,
        ),
        max_size=4,
    )
)
def test_of_fates_at_a_stage_the_newest_counts(
    tmp_path_factory: pytest.TempPathFactory, waves: list
) -> None:
    warehouse = Warehouse(tmp_path_factory.mktemp("w") / "warehouse.duckdb")
    expected, minute = {}, 0
    for wave in waves:
        rows = []
        for subject, outcome in wave:
            minute += 1
            rows.append(outcome_of(subject, outcome, minute=minute))
            expected[subject] = outcome
        warehouse.put_rows({"outcomes": rows})
    found = warehouse.rows("select subject, outcome from outcomes")
    assert len(found) == len(expected)
    assert {row["subject"]: row["outcome"] for row in found} == expected


def test_an_acceptance_is_replaced_only_by_who_means_to(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    warehouse.put_rows({"acceptances": [acceptance("s", "machine")]})
    warehouse.put_rows({"acceptances": [acceptance("s", "somebody"), acceptance("t", "somebody")]})
    kept = "select accepted_by from acceptances order by subject"
    assert [row["accepted_by"] for row in warehouse.rows(kept)] == ["machine", "somebody"]
    warehouse.put_rows({"acceptances": [acceptance("s", "a reviewer")]}, replacing=True)
    assert [row["accepted_by"] for row in warehouse.rows(kept)] == ["a reviewer", "somebody"]


def test_long_rows_land_among_short_ones_and_no_batches_are_nothing(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    reasons = ["short", "é" * 1_500_000, "", "x" * 9_000_000]
    rows = [outcome_of(str(at), "failed") | {"reason": reason} for at, reason in enumerate(reasons)]
    warehouse.put_rows({"outcomes": rows})
    warehouse.put_files(tmp_path / "nowhere")
    assert warehouse.rows("select reason from outcomes order by subject") == [
        {"reason": one} for one in reasons
    ]
