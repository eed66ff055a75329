"""What rules prove of values on requests whose calls are labelled right or wrong by hand."""

from pathlib import Path

from bench.values import count_standings


def test_values_of_free_wordings_are_proved_and_wrong_ones_hardly_ever(shared: Path) -> None:
    counts, _ = count_standings(shared / "cases" / "free_wordings.jsonl")
    right, wrong = counts["right"], counts["wrong"]
    assert right["proved"] / right.total() >= 0.75
    assert right["contradicted"] == 0
    assert wrong["proved"] == 0
