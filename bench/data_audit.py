"""What an audit of a data set costs: CPU seconds and peak memory on items made from a file.

Usage: `python -m bench.data_audit FILE [--format bfcl] [--items 10000] [--json]`. FILE has a JSON
object a line, BFCL's with the file of its answers in the folder possible_answer beside it. Its
rows are repeated, each with words and documents of its own, so that nothing is known from an item
before.
"""

import argparse
import asyncio
import json
import resource
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from callwright.flows.data_audit.running import audit_data, audited_files
from callwright.warehouse.exports.bfcl import POSSIBLE
from callwright.warehouse.store import Warehouse

_TEXTS = frozenset({"content", "description", "text", "value"})
_LETTERS = "bcdfghjklm"


def main() -> None:
    """Make the items, audit them and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--format", default="bfcl")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / chosen.file.name
        _repeat(chosen.file, path, chosen.items)
        answers = chosen.file.parent / POSSIBLE / chosen.file.name
        if answers.is_file():
            _repeat(answers, path.parent / POSSIBLE / path.name, chosen.items)
        data = audited_files([path], chosen.format)
        warehouse = Warehouse(Path(folder) / "warehouse.duckdb")
        began = time.process_time()
        audit = asyncio.run(audit_data(warehouse, data))
        figures = {
            "items": audit.records,
            "findings": sum(audit.counts.values()),
            "cpu_seconds": round(time.process_time() - began, 1),
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
    print(json.dumps(figures) if chosen.json else figures)


def _repeat(source: Path, target: Path, items: int) -> None:
    rows = [orjson.loads(line) for line in source.read_bytes().splitlines() if line.strip()]
    target.parent.mkdir(exist_ok=True)
    with target.open("wb") as file:
        file.writelines(orjson.dumps(one) + b"\n" for one in _numbered(rows, items))


def _numbered(rows: list[Any], items: int) -> Iterator[Any]:
    for number, row in enumerate(islice(cycle(rows), items)):
        name = "".join(_LETTERS[int(digit)] for digit in str(number))
        yield {**_with_words(row, f" Mr. {name.title()}."), "id": f"{row.get('id')}_{number}"}


def _with_words(value: Any, words: str) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_with_words(one, words) for one in value]
    if isinstance(value, dict):
        return {
            key: one + words if key in _TEXTS and isinstance(one, str) else _with_words(one, words)
            for key, one in value.items()
        }
    return value


if __name__ == "__main__":
    main()
