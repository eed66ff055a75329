"""Calls that were paid for, written down as they end: a build that is cut off still knows what it has spent."""

from pathlib import Path

import orjson

from warehouse.rows import Row
from warehouse.store import Warehouse

_SUFFIX = ".paid"
_FILE = "llm_calls.jsonl"


def paid_folder(target: Path) -> Path:
    """Where the calls of the shard that writes to `target` are written down."""
    return target.with_name(f"{target.name}{_SUFFIX}")


def note_paid(folder: Path, row: Row) -> None:
    """Add a call; it is kept from now on, whatever becomes of this process."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _FILE).open("ab") as file:
        file.write(orjson.dumps(row) + b"\n")


def read_paid(folder: Path) -> list[Row]:
    """The calls of earlier tries of the same shard."""
    file = folder / _FILE
    return [orjson.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def land_paid(shards: Path, warehouse: Warehouse) -> None:
    """Keep the calls of shards that never landed."""
    for folder in sorted(shards.glob(f"*{_SUFFIX}")):
        warehouse.put_files(folder)
