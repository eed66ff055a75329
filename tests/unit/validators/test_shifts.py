"""At which snapshots something shifts: by tags, and in published records by what is said."""

import json
from pathlib import Path

import pytest

from callwright.generators.imports.papers import read_hammerbench
from callwright.validators.metrics.snapshots import shifted_snapshots
from callwright.warehouse.records import Tool
from tests.support.validators.conversations import conversation


@pytest.mark.parametrize(
    ("kind", "tags", "numbers"),
    [
        ("SO_case1", ["shift=1"], [1]),
        ("mQmA_SO_case2", ["shift=1"], [1, 2]),
        ("SO_case2", ["shift=2"], [2]),
        ("sQsA_external", ["shift=1", "shift=2"], [1, 2]),
        ("mSv", ["shift=7"], []),
    ],
)
def test_tags_say_where(table: Tool, kind: str, tags: list[str], numbers: list[int]) -> None:
    assert shifted_snapshots(conversation([table], kind=kind, tags=tags)) == numbers


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["SO_case1", "SO_case2", "External"])
def test_published_lists_of_snapshots_are_found_again(
    shared: Path, language: str, kind: str
) -> None:
    folder = shared / "data" / "hammerbench" / "sample100" / language / "multi-turn"
    listed = json.loads((folder / "snapshot_id" / f"snap_shot_id_{kind}.json").read_text())
    samples = [record.sample for record in read_hammerbench(folder / f"HammerBench_{kind}.json")]
    assert len(samples) == len(listed) == 100
    for sample, numbers in zip(samples, listed, strict=True):
        assert sample is not None
        inserted = [number + 1 for number in numbers] if kind == "SO_case2" else []
        assert shifted_snapshots(sample) == sorted({*numbers, *inserted})
