"""Calls that were paid for, written down as they end: a build that is cut off still knows what it has spent."""

from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import orjson

from warehouse.rows import Row
from warehouse.store import Warehouse

_SUFFIX = ".paid"
_FILE = "llm_calls.jsonl"


def paid_folder(target: Path) -> Path:
    """Where the calls of the shard that writes to `target` are written down."""
    return target.with_name(f"{target.name}{_SUFFIX}")


class PaidNotes:
    """The calls of one shard that cost money, in a file that is opened at the first of them."""

    def __init__(self, folder: Path) -> None:
        """Write to `folder`, after what earlier tries of the shard wrote there."""
        self._folder = folder
        self._file: BinaryIO | None = None

    def earlier(self) -> list[Row]:
        """The calls of earlier tries of the same shard."""
        file = self._folder / _FILE
        return [orjson.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []

    def note(self, row: Row) -> None:
        """Add a call; it is kept from now on, whatever becomes of this process."""
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = (self._folder / _FILE).open("ab", buffering=0)
        self._file.write(orjson.dumps(row) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


def land_paid(shards: Path, warehouse: Warehouse) -> None:
    """Keep the calls of shards that never landed."""
    for folder in sorted(shards.glob(f"*{_SUFFIX}")):
        warehouse.put_files(folder)
