"""Publishing, and other reading during builds: a read-only database, Parquet files, copies.

The copies last for one command.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from callwright.warehouse.comments import list_views, table_comments
from callwright.warehouse.engine import quoted
from callwright.warehouse.errors import StoreError
from callwright.warehouse.store import Warehouse
from callwright.warehouse.tables import tables
from callwright.warehouse.waiting import Busy, when_free

MANY = 20_000  # samples, with which views that scan are answered ahead
_AS_PARQUET = "format parquet, compression zstd, compression_level 1"  # half as large as by default
# The longest column of samples.parquet does not stand in another file a second time.
_PARQUET_ROWS = {"accepted_samples": "(select * exclude (body) from accepted_samples)"}
_READ_ONLY = 0o444
_DATABASE = "warehouse.duckdb"
_UNFINISHED, _TABLES, _READING = ".unfinished-", ".parquet-", ".reading-"
_BUILDING = "building.lock"
_KEPT = 2  # folders of Parquet files: whoever has found the last but one goes on reading it


class Publication(NamedTuple):
    """The locations of the published copies."""

    database: Path
    parquet: Path


class ReadableWarehouse(NamedTuple):
    """A warehouse that no writer waits for; `as_of` is when its original was last written."""

    warehouse: Warehouse
    as_of: datetime


def publish(warehouse: Warehouse, folder: Path) -> Publication:
    """Replace the published copies, each in one step; readers of the old one keep it.

    Writers wait only while the file is copied. An unfinished copy is removed, and so are those
    of earlier processes that were killed. Raises StoreError if the warehouse stays locked or
    there is no room: then the last copies stay.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            _take(lock, folder, warehouse)
            _remove_old(folder)
            try:
                return _publish(warehouse, folder)
            finally:
                _remove_old(folder)
    except OSError as error:
        problem = f"Publishing to {folder} failed, and the earlier copy is unchanged: {error}"
        raise StoreError(problem) from error


def _take(lock: IO[str], folder: Path, warehouse: Warehouse) -> None:
    """Lock the folder so that nobody else publishes to it and removes what this writes."""

    def attempt() -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy("another process or thread that publishes to it") from error

    when_free(attempt, f"The folder {folder}", warehouse.file.patience, warehouse.file.tell)


def published_copy(warehouse: Warehouse, folder: Path, *, may_be_older: bool = False) -> Path:
    """Return the path of the published database, renewed if the warehouse has changed since.

    With `may_be_older` an older copy will do.
    """
    copy = warehouse.beside(folder / _DATABASE)
    if _serves(copy, warehouse, may_be_older=may_be_older):
        return copy.path
    return publish(warehouse, folder).database


def _serves(copy: Warehouse, warehouse: Warehouse, *, may_be_older: bool) -> bool:
    return copy.is_current() and (may_be_older or copy.is_copy_of(warehouse))


def _publish(warehouse: Warehouse, folder: Path) -> Publication:
    name = datetime.now(UTC).strftime(f"{_TABLES}%Y%m%dT%H%M%S%f")
    fresh = folder / f"{_UNFINISHED}{name}"
    (fresh / "parquet").mkdir(parents=True)
    copy = warehouse.beside(fresh / _DATABASE)
    warehouse.copy_to(copy.path)
    written = copy.path.stat()
    with copy.reading_together():
        [[samples]] = copy.stream("select count(*) from samples")
        if samples <= MANY:
            _write_parquet(copy, fresh / "parquet")
    if samples > MANY:
        _answer_ahead(copy)
        _write_parquet(copy, fresh / "parquet")
    # it is the warehouse as of then
    os.utime(copy.path, ns=(written.st_atime_ns, written.st_mtime_ns))
    copy.path.chmod(_READ_ONLY)
    copy.path.replace(folder / _DATABASE)
    (fresh / "parquet").rename(folder / name)
    (fresh / "link").symlink_to(name)
    link = folder / "parquet"
    if not link.is_symlink():  # nothing yet, or what a copy of the home made of the link
        shutil.rmtree(link, ignore_errors=True)
    (fresh / "link").replace(link)
    return Publication(folder / _DATABASE, link)


def _write_parquet(copy: Warehouse, folder: Path) -> None:
    with copy.reading() as connection:
        for table in (*tables(), *list_views("parquet")):
            target = quoted(folder / f"{table}.parquet")
            sql = f"copy (from {_PARQUET_ROWS.get(table, table)}) to '{target}' ({_AS_PARQUET})"
            connection.execute(sql)


def _answer_ahead(copy: Warehouse) -> None:
    """Replace the views that scan with tables of their rows, keeping the comments."""
    with copy.together():
        for view in list_views("answered_ahead"):
            with copy.writing() as connection:
                query = "select column_name, comment from duckdb_columns() where table_name = ?"
                columns = connection.execute(f"{query} and comment is not null", [view]).fetchall()
                query = "select comment from duckdb_views() where view_name = ?"
                [[comment]] = connection.execute(query, [view]).fetchall()
                connection.execute(f"create table ahead as from {view}")
                connection.execute(f"drop view {view}")
                connection.execute(f"alter table ahead rename to {view}")
                connection.execute(table_comments(view, comment, columns))


def publish_when_due(warehouse: Warehouse, folder: Path, minutes: float, since: float) -> None:
    """Publish if `minutes` have passed since the last time.

    If nothing was published yet, they count from `since`, when there first was something to
    publish.
    """
    link = folder / "parquet"
    last = link.lstat().st_mtime if link.exists() else since
    if time.time() - last >= minutes * 60:
        publish(warehouse, folder)


def _remove_old(folder: Path) -> None:
    """Remove unfinished copies, and Parquet files published before the last but one."""
    link = folder / "parquet"
    shown = link.readlink().name if link.is_symlink() else ""
    tables = sorted(folder.glob(f"{_TABLES}*"))
    # what is newer never came to be shown
    kept = [one for one in tables if one.name <= shown][-_KEPT:]
    for left in (*folder.glob(f"{_UNFINISHED}*"), *(one for one in tables if one not in kept)):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def published_or_copied(
    warehouse: Warehouse, folder: Path, *, may_be_older: bool = False
) -> Iterator[ReadableWarehouse]:
    """Give the published copy if it is current or `may_be_older`, or else a temporary copy.

    The copy is removed at the end. If none can be made (a read-only folder, a full disk), the
    warehouse itself is read.
    """
    published = warehouse.beside(folder / _DATABASE)
    if _serves(published, warehouse, may_be_older=may_be_older):
        yield _reading(published)
        return
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(_passing(warehouse.path.parent))
            copy = warehouse.beside(folder / _DATABASE)
            warehouse.copy_to(copy.path)
        except OSError:
            copy = warehouse
        yield _reading(copy)


def _reading(warehouse: Warehouse) -> ReadableWarehouse:
    written = warehouse.path.stat().st_mtime if warehouse.path.exists() else time.time()
    return ReadableWarehouse(warehouse, datetime.fromtimestamp(written, UTC))


@contextmanager
def _passing(home: Path) -> Iterator[Path]:
    """Give a folder that is locked while it is read, then removed.

    If its reader was killed, the next one removes it.
    """
    for left in home.glob(f"{_READING}*"):
        with suppress(OSError), (left / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left)
    folder = tempfile.TemporaryDirectory(prefix=_READING, dir=home)
    with folder as made, (Path(made) / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(made)


@contextmanager
def build_under_way(home: Path) -> Iterator[None]:
    """Signal to others that records are being added to this work folder's warehouse."""
    with (home / _BUILDING).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def is_build_under_way(home: Path) -> bool:
    """Whether a living process is building in this work folder."""
    try:
        with (home / _BUILDING).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
