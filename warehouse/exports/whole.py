"""Samples whole, for other programs of ours and of yours: records as JSON lines, and the warehouse's tables as Parquet."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from callwright.warehouse.exports.writing import TEST, Format, ReleaseSplit, TableFormat, Write, canary
from callwright.warehouse.queries import sql
from callwright.warehouse.records import CallTurn, Release, ResultTurn, Sample, Tool
from callwright.warehouse.store import Warehouse

TOOLS_FILE = "tools.parquet"


def record_line(sample: Sample, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """A sample with those of the tools that it names."""
    keys = dict.fromkeys((*sample.candidates, *sample.withheld))
    return {
        "sample": sample.model_dump(mode="json"),
        "tools": [tools[key].model_dump(mode="json") for key in keys if key in tools],
        "responses": list(_responses(sample)),
    }


def _responses(sample: Sample) -> Iterator[dict[str, Any]]:
    for turn, following in pairwise(sample.turns):
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn):
            for call, result in zip(turn.calls, following.results, strict=False):
                yield {"call": {"tool": call.tool, "arguments": call.arguments}, "response": result}


def _begin(part: ReleaseSplit) -> Write:
    def write(sample: Sample) -> int:
        part.add_line(f"{part.split or 'records'}.jsonl", record_line(sample, part.source.tools) | part.mark)
        return 1

    return write


class CopiedSplit(NamedTuple):
    """The file of a split's samples, how many there are, and what marks them."""

    file: Path
    samples: int
    canary: str


def copy_tables(warehouse: Warehouse, release: Release, kinds: Sequence[str], folder: Path) -> dict[str, CopiedSplit]:
    """Copy a release's samples of some kinds, all where none is named, and its tools out of the warehouse.

    The samples are in a file a split, "" where there are none. The store does it, so that a million take seconds.
    """
    asked = [release.name, list(kinds)]
    copied: dict[str, CopiedSplit] = {}
    with warehouse.together():
        for row in warehouse.rows(sql("whole.counted"), asked):
            split, path = row["split"], folder / row["split"] / "samples.parquet"
            mark = canary(release) if split == TEST else ""
            _copy(warehouse, sql("whole.samples", split=_literal(split), canary=_literal(mark)), asked, path)
            copied[split] = CopiedSplit(path, row["samples"], mark)
        _copy(warehouse, sql("whole.tools"), [release.name], folder / TOOLS_FILE)
    return copied


def _copy(warehouse: Warehouse, sql: str, parameters: Sequence[object], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with warehouse.reading() as connection:
        connection.execute(f"copy ({sql}) to {_literal(str(path))} (format parquet)", parameters)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


RECORDS = Format(
    name="records",
    holds="each sample with its evidence, its tools and the responses to its calls, one a line",
    readers="`callwright check records`, and programs of your own",
    begin=_begin,
)
PARQUET = TableFormat(
    name="parquet",
    holds="the samples of each split and the tools, with the columns of the warehouse, JSON as text",
    readers="DuckDB, pandas, Polars, Spark",
)
