"""Several runs, two candidates side by side, and what nobody gets right: the views agree with
the libraries.
"""

from itertools import combinations
from math import comb
from statistics import fmean, stdev

import pytest
from scipy.stats import t as student
from statsmodels.stats.contingency_tables import mcnemar

from callwright.warehouse.records import CallTurn, GoldCall, Prediction, Sample, Score, UserTurn
from callwright.warehouse.store import Warehouse

RUNS = {
    "a": (4, 4, 2, 0, 1),
    "b": (4, 3, 3, 2, 0),
}  # how many of four runs of a candidate pass each sample


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Five samples, answered four times by two candidates; the first runs are the last to pass."""
    kept = Warehouse(tmp_path_factory.mktemp("compared") / "warehouse.duckdb", patience=5)
    samples = [
        Sample(
            kind="perfect",
            language="en",
            category="Travel",
            candidates=("k",),
            turns=(
                UserTurn(text=f"A taxi to {number}."),
                CallTurn(calls=(GoldCall(tool="taxi", arguments={"to": number}),)),
            ),
        )
        for number in range(5)
    ]
    kept.put(samples)
    mistakes: dict[str, str] = {}
    for candidate, passes in RUNS.items():
        for sample, passed in zip(samples, passes, strict=True):
            for run in range(4):
                one = Prediction(
                    release="v1",
                    subject=sample.key,
                    turn=1,
                    candidate=candidate,
                    run=run,
                    text=f"{candidate}{run}",
                    calls=(),
                )
                kept.put([one])
                mistakes[one.key] = "" if run >= 4 - passed else "refused"
    kept.mark_errors(mistakes)
    return kept


@pytest.mark.parametrize("candidate", RUNS)
def test_pass_k_is_the_share_of_draws_of_k_runs_that_all_pass(
    warehouse: Warehouse, candidate: str
) -> None:
    rows = warehouse.rows(
        "select k, n_samples as samples, pass_all, pass_any, low, high from pass_k where kind = 'all' and"
        " candidate = ? order by k",
        [candidate],
    )
    runs = [[True] * passed + [False] * (4 - passed) for passed in RUNS[candidate]]
    for row in rows:
        drawn = [[all(draw) for draw in combinations(of_sample, row["k"])] for of_sample in runs]
        assert row["pass_all"] == pytest.approx(fmean(fmean(draws) for draws in drawn))
        missed = fmean(comb(4 - passed, row["k"]) / comb(4, row["k"]) for passed in RUNS[candidate])
        assert row["pass_any"] == pytest.approx(1 - missed)
        assert row["low"] <= row["pass_all"] <= row["high"]
    assert [(row["k"], row["samples"]) for row in rows] == [(1, 5), (2, 5), (3, 5), (4, 5)]


def test_two_candidates_are_compared_on_the_same_samples_by_mcnemars_test(
    warehouse: Warehouse,
) -> None:
    [row] = warehouse.rows("from paired_comparisons where kind = 'all'")
    first = [[passed == 4 for passed in RUNS[name]] for name in "ab"]
    pairs = list(zip(*first, strict=True))
    table = [
        [pairs.count((True, True)), pairs.count((True, False))],
        [pairs.count((False, True)), pairs.count((False, False))],
    ]
    assert [row[name] for name in ("n_both", "n_only_candidate", "n_only_other", "n_neither")] == [
        *table[0],
        *table[1],
    ]
    assert row["p_value"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert row["difference"] == pytest.approx(1 / 5)
    assert row["low"] < row["difference"] < row["high"]


@pytest.mark.parametrize(("only", "other"), [(0, 0), (3, 9), (40, 60), (900, 1000)])
def test_mcnemars_test_is_exact_for_many_samples(
    warehouse: Warehouse, only: int, other: int
) -> None:
    samples = [
        f"{side}{number}"
        for side, count in (("a", only), ("b", other))
        for number in range(max(1, count))
    ]
    rows = [
        {
            "key": f"{candidate}{only}/{other}{sample}",
            "release": f"{only}/{other}",
            "subject": sample,
            "turn": 1,
            "candidate": candidate,
            "strategy": "direct",
            "tools_shown": "first",
            "run": 0,
            "text": "",
            "calls": None,
            "problem": "",
            "settings": "",
            "error_type": "" if sample[0] == candidate or not only else "refused",
            "made_at": "2026-11-22T00:00:00Z",
        }
        for candidate in "ab"
        for sample in samples
    ]
    kinds = [
        {
            "key": sample,
            "kind": "perfect",
            "language": "en",
            "category": "",
            "request": "",
            "gold": "[]",
            "body": "{}",
            "stage": "",
            "parents": [],
            "seed": 0,
            "model": "",
            "prompt_version": "",
            "planted": "",
            "call_turns": 1,
            "calls": 1,
        }
        for sample in samples
    ]
    warehouse.put_rows({"predictions": rows, "samples": kinds})
    [row] = warehouse.rows(
        "select p_value from paired_comparisons where kind = 'all' and release = ?",
        [f"{only}/{other}"],
    )
    assert row["p_value"] == pytest.approx(
        mcnemar([[0, only], [other, 0]], exact=True).pvalue, rel=1e-6
    )


def test_what_all_candidates_fail_in_every_run_is_listed(warehouse: Warehouse) -> None:
    failed = warehouse.rows("select * from failed_by_all where release = 'v1'")
    assert failed == []
    warehouse.execute(
        "update predictions set error_type = 'wrong_tool' where text in ('b2', 'b3') and release ="
        " 'v1'"
    )
    [row] = warehouse.rows(
        "select request, n_candidates as candidates, error_types from failed_by_all where release = 'v1'"
    )
    assert tuple(row.values()) == ("A taxi to 3.", 2, {"refused": 6, "wrong_tool": 2})


def test_the_mean_over_runs_has_an_interval_over_samples_and_students_over_runs(
    warehouse: Warehouse,
) -> None:
    values = (0.5, 0.6, 0.8)
    warehouse.put(
        [
            Score(
                release="v1",
                candidate="a",
                run=run,
                metric="ast",
                value=one,
                count=9,
                low=one - 0.2,
                high=one + 0.1,
            )
            for run, one in enumerate(values)
        ]
        + [Score(release="v1", candidate="b", metric="ast", value=0.7, count=9, low=0.4, high=0.9)]
    )
    several, single = warehouse.rows(
        "select mean, low, high, run_low, run_high, n_runs as runs from run_means order by candidate"
    )
    low, high = student.interval(0.95, 2, loc=fmean(values), scale=stdev(values) / 3**0.5)
    assert tuple(several.values()) == pytest.approx(
        (fmean(values), fmean(values) - 0.2, fmean(values) + 0.1, low, high, 3), abs=1e-3
    )
    assert tuple(single.values()) == (0.7, 0.4, 0.9, None, None, 1)
