"""What is found of values in requests, and in golds of BFCL, that are labelled right or wrong by
hand.
"""

from pathlib import Path

import pytest

from bench.values import count_corrections, count_standings


@pytest.mark.parametrize("name", ["free_wordings", "free_wordings_3"])
def test_right_values_of_free_wordings_are_found_and_none_is_contradicted(
    shared: Path, name: str
) -> None:
    right = count_standings(shared / "cases" / f"{name}.jsonl")["right, all"]
    assert (right["said"] + right["derived"]) / sum(right.values()) >= 0.75
    assert right["contradicted"] == 0


def test_more_wrong_golds_of_bfcl_are_contradicted_than_corrected_ones(shared: Path) -> None:
    counts = count_corrections(shared / "cases" / "bfcl_corrections.jsonl")
    assert counts["before"]["contradicted"] >= counts["before"]["golds"] * 0.36
    assert counts["after"]["contradicted"] <= counts["after"]["golds"] * 0.08
