"""The one importer of duckdb: an engine that files are attached to and detached from, and waiting for who has them open."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, NamedTuple, TypeVar

import duckdb

from callwright.warehouse.errors import ConfigurationError, StoreError

logger = logging.getLogger(__name__)

Connection = duckdb.DuckDBPyConnection
Answer = tuple[list[str], list[tuple[Any, ...]]]  # column names and rows
_FIRST_WAIT = 0.02
_LONGEST_WAIT = 0.5
_FIRST_WORD, _BETWEEN = 5.0, 30.0  # seconds until it is told that somebody waits, and between two times
_INTERRUPTED = "Query interrupted"  # all that DuckDB's binding leaves of a Ctrl-C while it works
_STORAGE = "v1.4.0"  # new files are written so that clients of this version of DuckDB and later ones read them
_KEPT_ENGINES = 2
_ROWS_AT_ONCE = 500
CATALOG = "warehouse"
_Opened = TypeVar("_Opened")


class DatabaseLimits(NamedTuple):
    """How much memory and how many threads DuckDB may take; past its memory it goes on with files beside the database."""

    memory_mb: int = 1024
    threads: int = 2


class DatabaseFile:
    """A DuckDB file that is attached for each use and detached after it, since DuckDB locks what is open for writing.

    Whoever comes while another process has it waits up to `patience` seconds, and has that told.
    """

    def __init__(self, path: Path, limits: DatabaseLimits, patience: float, tell: Callable[[str], object]) -> None:
        """Name the file; nothing is opened yet."""
        self.path, self.limits, self.patience, self.tell = path, limits, patience, tell

    def open(self, *, read_only: bool, beside_a_writer: bool = False) -> "Attached":
        """The file, attached to the engine of this process; an absent one is begun where it may be written to.

        Who only reads may do so `beside_a_writer` of this process; others wait until nobody writes.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._when_free(
            lambda: _Engine.open(self.path, self.limits, read_only=read_only, beside_a_writer=beside_a_writer)
        )

    def query(self, sql: str) -> Answer:
        """What somebody else's query gives, which can change nothing and read no other file. Raises ConfigurationError."""
        config = _config(self.path, self.limits)
        connect = partial(duckdb.connect, str(self.path), read_only=True, config=config)
        with self.refusals(), self._when_free(connect) as connection:
            try:
                return _locked_up_answer(connection, sql)
            except duckdb.Error as error:
                raise ConfigurationError(f"The query can't be run: {error}") from error

    def is_at_rest(self) -> bool:
        """Whether there is a file that nobody left in the middle of a write."""
        return self.path.is_file() and self.path.stat().st_size > 0 and not Path(f"{self.path}.wal").exists()

    def write_for_older_clients(self) -> None:
        """Write a file that an earlier callwright began anew, so that DuckDB since 1.4 reads it."""
        attached = self.open(read_only=True)
        [[version]] = attached.connection.execute(
            "select tags['storage_version'] from duckdb_databases() where database_name = current_database()"
        ).fetchall()
        attached.close()
        if version == f"{_STORAGE}+":
            return
        fresh = self.path.with_suffix(".fresh")
        with self.refusals(), duckdb.connect(":memory:", config=_config(self.path, self.limits)) as engine:
            engine.execute(f"attach '{quoted(self.path)}' as old (type duckdb, read_only)")
            engine.execute(f"attach '{quoted(fresh)}' as {CATALOG} (type duckdb, storage_version '{_STORAGE}')")
            engine.execute(f"copy from database old to {CATALOG}")
        fresh.replace(self.path)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Whatever DuckDB refuses within is a StoreError, and its Ctrl-C is one."""
        try:
            yield
        except duckdb.Error as error:
            raise StoreError(f"The warehouse {self.path} refused: {error}") from error
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from error
            raise

    def _when_free(self, open_it: Callable[[], _Opened]) -> _Opened:
        """What `open_it` gives, as soon as nobody else has the file open. Raises StoreError after the patience."""
        began = time.monotonic()
        wait, next_word = _FIRST_WAIT, _FIRST_WORD
        while True:
            try:
                return open_it()
            except duckdb.Error as error:
                # This process has it open otherwise, or is closing it in another thread: a moment, then again.
                is_ours = isinstance(error, (duckdb.ConnectionException, duckdb.ResourceInUseException))
                if not is_ours and not (isinstance(error, duckdb.IOException) and "lock" in str(error)):
                    raise StoreError(f"The warehouse {self.path} can't be opened: {error}") from error
                problem = error
            waited = time.monotonic() - began
            if waited + wait > self.patience:
                raise StoreError(
                    f"Another process kept the warehouse {self.path} locked for {self.patience:g} "
                    f"s. Wait for that process to end, or stop it: {problem}"
                ) from problem
            if waited > next_word:
                who = f"Another process has the warehouse {self.path} open"
                self.tell(f"{who}; waited {waited:.0f} s so far: {problem}")
                next_word += _BETWEEN
            time.sleep(wait)
            wait = min(_LONGEST_WAIT, wait * 2)


def query_file(path: Path, sql: str) -> Answer:
    """Column names and rows of a query on somebody's own DuckDB file, which it can't change, and beside which it reads nothing.

    Raises ConfigurationError where there is no such file or the SQL is wrong.
    """
    if not path.is_file():
        raise ConfigurationError(f"There is no DuckDB file {str(path)!r}.")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            return _locked_up_answer(connection, sql)
    except duckdb.Error as error:
        raise ConfigurationError(f"The query on {str(path)!r} can't be run: {error}") from error


def parquet_rows(path: Path) -> Iterator[str]:
    """The rows of somebody's Parquet file as JSON texts, one after another. Raises StoreError where it can't be read."""
    config = _config(path, DatabaseLimits()) | {"preserve_insertion_order": "true"}
    try:
        with duckdb.connect(":memory:", config=config) as engine:
            found = engine.execute("select to_json(t)::varchar from read_parquet(?) t", [str(path)])
            while some := found.fetchmany(_ROWS_AT_ONCE):
                yield from (row for (row,) in some)
    except duckdb.Error as error:
        raise StoreError(f"The Parquet file {str(path)!r} can't be read: {error}") from error


def write_parquet(lines: Path, path: Path, columns: Mapping[str, str]) -> None:
    """Write a file of JSON lines as Parquet, in its order, with `columns` of DuckDB's types."""
    given = ", ".join(f"{name}: '{kind}'" for name, kind in columns.items())
    config = _config(path, DatabaseLimits()) | {"preserve_insertion_order": "true"}
    with duckdb.connect(":memory:", config=config) as engine:
        rows = f"read_json('{quoted(lines)}', format = 'newline_delimited', columns = {{{given}}})"
        engine.execute(f"copy (from {rows}) to '{quoted(path)}' (format parquet)")


def _locked_up_answer(connection: Connection, sql: str) -> Answer:
    """What a query gives in a DuckDB of its own that reads its file and nothing else: that can't be taken back."""
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    found = connection.execute(sql)
    return [column[0] for column in found.description or ()], found.fetchall()


class _Engine:
    """A DuckDB of this process to which one file is attached while somebody uses it; between its uses nobody locks the file.

    Starting a DuckDB takes 15 ms and attaching a file 7 ms, so the engines of the files that were used last are kept; the one
    that was idle longest is given to the next file.
    Those that attach the file at once for the same purpose share it, and who may read beside a writer does; any other has to
    wait.
    """

    _kept: ClassVar[dict[tuple[Path, DatabaseLimits], "_Engine"]] = {}
    _guard: ClassVar[RLock] = RLock()  # a generator that is thrown away may leave an engine while another is taken

    def __init__(self, path: Path, limits: DatabaseLimits) -> None:
        self._path, self._key = path, (path, limits)
        self.users = 0
        self._read_only = False
        self._duckdb = duckdb.connect(":memory:", config=_config(path, limits))

    @classmethod
    def open(cls, path: Path, limits: DatabaseLimits, *, read_only: bool, beside_a_writer: bool) -> "Attached":
        """A connection to this file. Raises duckdb.Error where it is in use otherwise or can't be read."""
        with cls._guard:  # to the end: until it has a user, an engine may be given to another file
            engine = cls._kept.pop((path, limits), None) or cls._idle(path, limits) or cls(path, limits)
            cls._kept[path, limits] = engine  # the last one used is the last one of them
            return engine.attach(read_only=read_only, beside_a_writer=beside_a_writer)

    @classmethod
    def _idle(cls, path: Path, limits: DatabaseLimits) -> "_Engine | None":
        """An engine that was kept for another file, where more would be kept than are worth it; None where a new one is needed."""
        idle = [(one, its_limits) for (_, its_limits), one in cls._kept.items() if not one.users]
        found: _Engine | None = None
        for one, its_limits in idle[: 1 - _KEPT_ENGINES]:
            if found is None and its_limits == limits and one.goes_to(path):
                found = one
            else:
                one.end()
        return found

    def goes_to(self, path: Path) -> bool:
        """Whether it can be given this file in the place of its own, which nobody uses."""
        del self._kept[self._key]
        try:
            self._duckdb.execute(f"set temp_directory = '{_overflow(path)}'")
        except duckdb.Error:  # it has used the one that it had
            return False
        self._path, self._key = path, (path, self._key[1])
        return True

    def attach(self, *, read_only: bool, beside_a_writer: bool) -> "Attached":
        """A connection to the file of this engine."""
        if self.users and self._read_only != read_only and not (read_only and beside_a_writer):
            raise duckdb.ResourceInUseException("This process has it open otherwise.")
        if not self.users:
            try:
                mode = "read_only" if read_only else "read_write"
                if not self._path.exists():
                    mode = f"storage_version '{_STORAGE}'"
                self._duckdb.execute(f"attach '{quoted(self._path)}' as {CATALOG} (type duckdb, {mode})")
            except (duckdb.IOException, duckdb.ResourceInUseException):
                raise  # locked or no database; the engine is as good as before
            except duckdb.Error:
                self.end()
                raise
            self._read_only = read_only
        self.users += 1
        return Attached(self, self._cursor())

    def again(self) -> "Attached":
        """Another connection to the file that is attached."""
        with self._guard:
            self.users += 1
        return Attached(self, self._cursor())

    def leave(self) -> None:
        """Detach the file if nobody uses it any more."""
        with self._guard:
            self.users -= 1
            if self.users:
                return
            try:
                self._duckdb.execute(f"detach {CATALOG}")
            except duckdb.Error:  # it could not be tidied up; what was committed is in the log beside the file
                logger.debug("The warehouse could not be detached.", exc_info=True)
                self.end()
            if Path(f"{self._path}.tmp").exists():  # it goes with the engine that made it
                self.end()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = self._duckdb.cursor()
        cursor.execute(f"use {CATALOG}")
        return cursor

    def end(self) -> None:
        """Keep it no more."""
        if self._kept.get(self._key) is self:
            del self._kept[self._key]
        self._duckdb.close()


def _overflow(path: Path) -> str:
    """Where DuckDB goes on with files beside the database, between quotes in SQL."""
    return quoted(Path(f"{path}.tmp"))


class Attached(NamedTuple):
    """A connection to a file that an engine has attached."""

    engine: _Engine
    connection: duckdb.DuckDBPyConnection

    def again(self) -> "Attached":
        """Another connection beside this one."""
        return self.engine.again()

    def close(self) -> None:
        """Close the connection, and detach the file if it was the last one."""
        self.connection.close()
        self.engine.leave()


def quoted(path: Path) -> str:
    """A path as it stands between quotes in SQL."""
    return str(path).replace("'", "''")


def _config(path: Path, limits: DatabaseLimits) -> dict[str, Any]:  # of several types, as DuckDB takes them
    return {
        "memory_limit": f"{limits.memory_mb}MB",
        "threads": str(limits.threads),
        "temp_directory": f"{path}.tmp",
        "preserve_insertion_order": "false",
    }
