"""At which snapshots something shifts: by facts, and in published records by what is said."""

import json
from pathlib import Path

import pytest

from callwright.generators.imports.papers import read_hammerbench
from callwright.validators.metrics.hammerbench.snapshots import shifted_snapshots
from callwright.warehouse.records import SampleFacts, Tool
from tests.support.validators.conversations import conversation


@pytest.mark.parametrize(
    ("kind", "shifts", "numbers"),
    [
        ("SO_case1", (1,), [1]),
        ("mQmA_SO_case2", (1,), [1, 2]),
        ("SO_case2", (2,), [2]),
        ("sQsA_external", (1, 2), [1, 2]),
        ("mSv", (7,), []),
    ],
)
def test_facts_say_where(
    table: Tool, kind: str, shifts: tuple[int, ...], numbers: list[int]
) -> None:
    sample = conversation([table], kind=kind, facts=SampleFacts(shifts=shifts))
    assert shifted_snapshots(sample) == numbers


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
