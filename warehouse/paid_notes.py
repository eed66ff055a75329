"""Model calls, each recorded before its answer is kept, so that accounts survive a kill.

Each writer has a folder of its own, with one batch of the table `llm_calls`. Every call has an
id, so a batch that has landed does not land again. A call whose answer never reached the ledger,
because its process was killed in between, is recognised by that, and marked before it lands.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

import orjson

from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_SUFFIX = ".paid"
_FILE = "llm_calls.jsonl"
_LOST = "The process was killed before the answer was kept; it is asked for again."

KnownKeys = Callable[[Iterable[str]], set[str]]  # which requests have an answer in the ledger


def paid_folder(target: Path) -> Path:
    """Return the folder for the calls of the shard that writes to `target`."""
    return target.with_name(f"{target.name}{_SUFFIX}")


class PaidNotes:
    """The calls of one writer, in a file that is opened at the first call."""

    def __init__(self, folder: Path) -> None:
        """Write to `folder`, after the notes of earlier tries of the same work."""
        self._path = folder / _FILE
        self._file: BinaryIO | None = None

    def earlier(self, known: KnownKeys) -> list[Row]:
        """Return the calls of earlier tries of the same work, marking those without an answer."""
        _settle(self._path, known)
        if self._path.exists():
            return [orjson.loads(line) for line in self._path.read_bytes().splitlines()]
        return []

    def note(self, row: Row) -> None:
        """Add a call, which is then stored even if this process dies.

        Raises OSError if the disk is full.
        """
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _drop_torn_end(self._path)
            self._file = self._path.open("ab", buffering=0)
        start = self._file.tell()
        left = memoryview(orjson.dumps(row) + b"\n")
        try:
            while left:  # a disk that is nearly full takes a part, and refuses the rest
                left = left[self._file.write(left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), start)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


@contextmanager
def paid_notes_of_process(
    parent: Path, warehouse: Warehouse, known: KnownKeys
) -> Iterator[PaidNotes]:
    """Give notes in a folder of this process's own, removed at the end.

    What killed processes left there lands first.
    """
    parent.mkdir(parents=True, exist_ok=True)
    _land_abandoned(parent, warehouse, known)
    folder = parent / f"{secrets.token_hex(8)}{_SUFFIX}"
    folder.mkdir()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with PaidNotes(folder) as notes:
            yield notes
        warehouse.put_files(folder)
        shutil.rmtree(folder, ignore_errors=True)


def land_paid(shards: Path, warehouse: Warehouse, known: KnownKeys) -> int:
    """Land the calls of abandoned shards; return how many notes were cut off, at unknown cost."""
    folders = sorted(shards.glob(f"*{_SUFFIX}"))
    torn = sum(_settle(folder / _FILE, known) for folder in folders)
    if folders:
        warehouse.put_files(*folders)
    return torn


def _land_abandoned(parent: Path, warehouse: Warehouse, known: KnownKeys) -> None:
    """Store and remove the folders under `parent` that no living process holds."""
    for folder in sorted(parent.glob(f"*{_SUFFIX}")):
        with suppress(OSError), (folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _settle(folder / _FILE, known)
            warehouse.put_files(folder)
            shutil.rmtree(folder, ignore_errors=True)


def _settle(path: Path, known: KnownKeys) -> bool:
    """Cut off a torn end and mark calls whose answer was lost; return whether it was torn."""
    is_torn = _drop_torn_end(path)
    if not path.exists():
        return is_torn
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    asked = [row["request"] for row in rows if not row["error"] and not row["cached"]]
    lost = {*asked} - known(asked) if asked else set()
    if lost:
        for row in rows:
            row["error"] = row["error"] or (_LOST if row["request"] in lost else "")
        draft = path.with_suffix(".settled")
        text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        draft.write_bytes(text)
        draft.replace(path)
    return is_torn


def _drop_torn_end(path: Path) -> bool:
    """Cut off an unfinished last line; return whether there was one.

    A missing file is left alone.
    """
    body = path.read_bytes() if path.exists() else b""
    whole = body.rfind(b"\n") + 1
    if whole == len(body):
        return False
    os.truncate(path, whole)
    return True
