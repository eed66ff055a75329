"""The view `reader_agreement`: what people say of samples that a reader has read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from callwright.testing import make_sample, make_tool
from callwright.warehouse.records import Review, Sample, Verdict
from callwright.warehouse.store import Warehouse

NOW = datetime(2026, 11, 23, tzinfo=UTC)
LAMP = make_tool("dim_lamp", "Dim a lamp.", percent="integer", required=["percent"])


def told(
    path: Path, counts: tuple[int, int, int, int], cause: str = "spot check"
) -> list[dict[str, object]]:
    """The view where so many were chosen and accepted, chosen alone, accepted alone, and
    neither.
    """
    warehouse = Warehouse(path, patience=5)
    both = [(True, True), (True, False), (False, True), (False, False)]
    cases = [pair for pair, count in zip(both, counts, strict=True) for _ in range(count)]
    samples = [
        make_sample([LAMP], f"Dim to {at}.", {"dim_lamp": {"percent": at}})
        for at in range(len(cases))
    ]
    records: list[Sample | Verdict | Review] = [*samples]
    for one, (chooses, accepts) in zip(samples, cases, strict=True):
        said = "proved" if chooses else "unproved"
        records.append(Verdict(subject=one.key, check="reading", decision=said, model="r"))  # type: ignore[arg-type]
        decision = "accept" if accepts else "reject"
        records.append(
            Review(
                subject=one.key,
                kind="sample_review",
                decision=decision,
                reviewer="ann",
                reviewed_at=NOW,
            )  # type: ignore[arg-type]
        )
    warehouse.put(records)
    asked = {
        "kind": "sample_review",
        "build": "b",
        "cause": cause,
        "reason": "",
        "requested_at": NOW,
    }
    more = {"pushed_at": None, "server": None, "reviewers": 1, "overlap": 1, "priority": 0.0}
    warehouse.put_rows(
        {
            "build_samples": [
                {"build": "b", "sample": one.key, "draft": one.key} for one in samples
            ],
            "review_requests": [{"subject": one.key, **asked, **more} for one in samples],
        }
    )
    return warehouse.rows("select * from reader_agreement order by cause")


def test_the_four_cases_are_counted_over_all_and_by_cause(tmp_path: Path) -> None:
    over_all, drawn = told(tmp_path / "warehouse.duckdb", (3, 1, 2, 4))
    assert (over_all["cause"], drawn["cause"]) == ("", "spot check")
    for row in (over_all, drawn):
        assert [
            row[name]
            for name in ("n_samples", "n_both_right", "n_missed", "n_doubted", "n_both_doubt")
        ] == [10, 3, 1, 2, 4]
        assert row["agreement_share"] == 0.7
        assert row["kappa"] == pytest.approx((0.7 - (0.4 * 0.5 + 0.6 * 0.5)) / (1 - 0.5))
