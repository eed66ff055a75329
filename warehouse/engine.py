"""The only importer of duckdb: an engine to attach files to, and waiting for who has them open."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, RLock, get_ident
from typing import Any, ClassVar, NamedTuple, TypeVar

import duckdb
import orjson

from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.waiting import QUERY_SECONDS, Busy, holder_of, run_aside, when_free

logger = logging.getLogger(__name__)

Connection = duckdb.DuckDBPyConnection
Answer = tuple[list[str], list[tuple[Any, ...]]]  # column names and rows
_A_MOMENT = 0.25  # seconds to wait for another thread's transaction before ctrl-C is looked for
_INTERRUPTED = "Query interrupted"  # all that DuckDB's binding leaves of a Ctrl-C while it works
# new files are written so that clients of this version of DuckDB and later ones read them
_STORAGE = "v1.4.0"
_KEPT_ENGINES = 2
_ROWS_AT_ONCE = 500
CATALOG = "warehouse"
_ANOTHER_THREAD = "another thread of this process"
_Opened = TypeVar("_Opened")


class DatabaseLimits(NamedTuple):
    """The memory and threads that DuckDB may use; beyond its memory it uses files beside it."""

    memory_mb: int = 1024
    threads: int = 2


class DatabaseFile:
    """A DuckDB file, attached for each use only, since DuckDB locks files open for writing.

    If another process has the file open, callers wait up to `patience` seconds, and `tell` is
    informed.
    """

    def __init__(
        self, path: Path, limits: DatabaseLimits, patience: float, tell: Callable[[str], object]
    ) -> None:
        """Set the file; nothing is opened yet."""
        self.path, self.limits, self.patience, self.tell = path, limits, patience, tell

    def open(self, *, read_only: bool) -> "Attached":
        """Attach the file to this process's engine, and create it if it is missing and writable.

        Readers share it with writers in this process. Raises StoreError at once if this thread
        reads it and wants to write, because it would wait for itself.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._when_free(lambda: _Engine.open(self.path, self.limits, read_only=read_only))

    @contextmanager
    def turn(self, attached: "Attached") -> Iterator[None]:
        """Keep other threads of this process from writing or copying the file meanwhile."""

        def take() -> None:
            if not attached.engine.turn.acquire(timeout=_A_MOMENT):
                raise Busy(_ANOTHER_THREAD)

        self._when_free(take)
        try:
            yield
        finally:
            attached.engine.turn.release()

    def query(self, sql: str, seconds: float = QUERY_SECONDS, most: int | None = None) -> Answer:
        """Return the result of a user's query, which can change nothing and read no other file.

        Of its rows the first `most` are read. Raises ConfigurationError if the SQL is wrong,
        StoreError if it takes longer than `seconds`.
        """
        opened = partial(_Engine.connect, self.path, self.limits)
        with self.refusals(), self._when_free(opened) as connection:
            try:
                return _locked_up_answer(connection, sql, seconds, most)
            except duckdb.Error as error:
                raise ConfigurationError(f"The query can't be run: {error}") from error

    def is_at_rest(self) -> bool:
        """Whether the file exists and no interrupted write is pending."""
        is_made = self.path.is_file() and self.path.stat().st_size > 0
        return is_made and not Path(f"{self.path}.wal").exists()

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Turn DuckDB's errors into StoreError, and its own Ctrl-C error into KeyboardInterrupt."""
        try:
            yield
        except duckdb.Error as error:
            raise StoreError(f"The warehouse {self.path} refused: {error}") from error
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from error
            raise

    def _when_free(self, open_it: Callable[[], _Opened]) -> _Opened:
        """Return what `open_it` returns, as soon as nothing blocks it.

        Raises StoreError after the patience.
        """

        def attempt() -> _Opened:
            try:
                return open_it()
            except (duckdb.ConnectionException, duckdb.ResourceInUseException) as error:
                raise Busy(_ANOTHER_THREAD) from error
            except duckdb.Error as error:
                if isinstance(error, duckdb.IOException) and "lock" in str(error):
                    raise Busy(holder_of(str(error))) from error
                raise StoreError(f"The warehouse {self.path} can't be opened: {error}") from error

        return when_free(attempt, f"The warehouse {self.path}", self.patience, self.tell)


def query_file(path: Path, sql: str) -> Answer:
    """Return column names and rows of a query on another DuckDB file, which it can't change.

    It reads nothing but that file. Raises ConfigurationError if there is no such file or the SQL
    is wrong, StoreError if it takes too long.
    """
    if not path.is_file():
        raise ConfigurationError(f"There is no DuckDB file {str(path)!r}.")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            return _locked_up_answer(connection, sql, QUERY_SECONDS)
    except duckdb.Error as error:
        raise ConfigurationError(f"The query on {str(path)!r} can't be run: {error}") from error


def parquet_rows(path: Path) -> Iterator[str]:
    """Yield the rows of a user's Parquet file as JSON texts, one by one.

    Raises StoreError if it cannot be read.
    """
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


def _locked_up_answer(
    connection: Connection, sql: str, seconds: float, most: int | None = None
) -> Answer:
    """Return a query's result from a DuckDB that can irrevocably read only its own file.

    Of its rows the first `most` are read.
    """
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    is_over = Event()

    def ask() -> Answer:
        found = connection.execute(sql)
        rows: list[tuple[Any, ...]] = []
        while (some := found.fetchmany(_ROWS_AT_ONCE)) and not is_over.is_set():
            rows += some
            if most is not None and len(rows) >= most:
                break
        return [column[0] for column in found.description or ()], rows[:most]

    def end() -> None:
        is_over.set()
        connection.interrupt()

    return run_aside(ask, end, seconds, "The query")


def require_condition(text: str) -> str:
    """Return a user's condition unchanged.

    Raises ConfigurationError if it is not exactly one SQL expression.
    """
    with duckdb.connect(":memory:") as parser:
        asked = "select json_serialize_sql(?)"
        shown = (parser.execute(asked, [f"select {item}\n"]).fetchall() for item in (text, "true"))
        parsed, reference = (orjson.loads(row) for [[row]] in shown)
    if parsed["error"]:
        raise ConfigurationError(
            f"The condition {text!r} can't be read: {parsed['error_message']}."
        )
    nodes = [statement["node"] for statement in parsed["statements"]]
    items = [item for node in nodes for item in node.pop("select_list", ())]
    [expected] = [statement["node"] for statement in reference["statements"]]
    del expected["select_list"]
    if nodes != [expected] or len(items) != 1 or items[0]["alias"]:
        problem = f"The condition {text!r} must be one SQL expression, and is more than that."
        raise ConfigurationError(problem)
    return text


class _Engine:
    """A DuckDB of this process to which one file is attached only while somebody uses it.

    Between uses nobody locks the file. The engine alone owns what is attached: all who open the
    file share it, except a thread that wants to write what others only read. That thread waits
    for the other threads, and is refused if it reads the file itself.

    Starting a DuckDB takes 15 ms and attaching a file 7 ms, so the engines of the files used
    last are kept; the one that was idle longest is given to the next file.
    """

    _kept: ClassVar[dict[Path, "_Engine"]] = {}
    # a generator that is thrown away may leave an engine while another is taken
    _guard: ClassVar[RLock] = RLock()

    def __init__(self, path: Path, limits: DatabaseLimits) -> None:
        self._path, self._limits = path, limits
        self._users = Counter[int]()  # by thread
        # threads that wrote at once would share one memory limit, and exceed it
        self.turn = RLock()
        self.is_read_only = False
        self._duckdb = duckdb.connect(":memory:", config=_config(path, limits))

    @classmethod
    def open(cls, path: Path, limits: DatabaseLimits, *, read_only: bool) -> "Attached":
        """Open a connection to this file.

        Raises duckdb.Error if another process has it or it cannot be read; as `require_free`.
        """
        path = path.resolve()
        with cls._guard:  # to the end: until it has a user, an engine may be given to another file
            engine = cls._kept.pop(path, None)
            if engine is not None and not engine.fits(limits):
                engine.end()
                engine = None
            engine = engine or cls._idle(path, limits) or cls(path, limits)
            cls._kept[path] = engine  # the last one used is the last one of them
            return engine.attach(read_only=read_only)

    @classmethod
    def connect(cls, path: Path, limits: DatabaseLimits) -> Connection:
        """Return a separate DuckDB that reads only this file.

        Nobody else in this process may write to the file meanwhile.
        """
        with cls._guard:
            kept = cls._kept.get(path.resolve())
            if kept is not None and not kept.is_read_only:
                kept.require_free("asked a query of somebody else's")
            return duckdb.connect(str(path), read_only=True, config=_config(path, limits))

    @classmethod
    def _idle(cls, path: Path, limits: DatabaseLimits) -> "_Engine | None":
        """Return an idle engine of another file if enough are kept, None if a new one is needed.

        Other surplus engines are closed.
        """
        idle = [one for one in cls._kept.values() if not one.is_used]
        fitting_engine: _Engine | None = None
        for idle_engine in idle[: 1 - _KEPT_ENGINES]:
            if fitting_engine is None and idle_engine.fits(limits) and idle_engine.goes_to(path):
                fitting_engine = idle_engine
            else:
                idle_engine.end()
        return fitting_engine

    @property
    def is_used(self) -> bool:
        """Whether the file is attached."""
        return bool(self._users)

    def fits(self, limits: DatabaseLimits) -> bool:
        """Whether it was started with these limits; an engine in use is accepted as it is."""
        return self.is_used or self._limits == limits

    def require_free(self, purpose: str) -> None:
        """Raise Busy if other threads have the file attached.

        Raises StoreError if this thread has, because it would wait for itself.
        """
        if self._users[get_ident()]:
            how = "reads" if self.is_read_only else "writes"
            raise StoreError(
                f"The warehouse {self._path} can't be {purpose} by the thread that {how} it now: it"
                " would wait for itself. A bug, to be reported."
            )
        if self._users.total():
            raise Busy(_ANOTHER_THREAD)

    def goes_to(self, path: Path) -> bool:
        """Whether it can take this file instead of its own, which nobody uses."""
        del self._kept[self._path]
        try:
            self._duckdb.execute(f"set temp_directory = '{_overflow(path)}'")
        except duckdb.Error:  # it has used the one that it had
            return False
        self._path = path
        return True

    def attach(self, *, read_only: bool) -> "Attached":
        """Return a connection to the file of this engine."""
        if self.is_used and self.is_read_only and not read_only:
            self.require_free("written to")
        if not self.is_used:
            try:
                mode = "read_only" if read_only else "read_write"
                if not self._path.exists():
                    mode = f"storage_version '{_STORAGE}'"
                sql = f"attach '{quoted(self._path)}' as {CATALOG} (type duckdb, {mode})"
                self._duckdb.execute(sql)
            except (duckdb.IOException, duckdb.ResourceInUseException):
                raise  # locked or no database; the engine is as good as before
            except duckdb.Error:
                self.end()
                raise
            self.is_read_only = read_only
        thread = get_ident()
        self._users[thread] += 1
        return Attached(self, self._cursor(), thread)

    def leave(self, thread: int) -> None:
        """Detach the file if it is no longer used; `thread` is the one that opened it."""
        with self._guard:
            self._users[thread] -= 1
            self._users += Counter()  # only those that are left
            if self.is_used:
                return
            try:
                self._duckdb.execute(f"detach {CATALOG}")
            except (
                duckdb.Error
            ):  # it could not be tidied up; what was committed is in the log beside the file
                logger.debug("The warehouse could not be detached.", exc_info=True)
                self.end()
            if Path(f"{self._path}.tmp").exists():  # it goes with the engine that made it
                self.end()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = self._duckdb.cursor()
        cursor.execute(f"use {CATALOG}")
        return cursor

    def end(self) -> None:
        """Close the engine."""
        if self._kept.get(self._path) is self:
            del self._kept[self._path]
        self._duckdb.close()


def _overflow(path: Path) -> str:
    """Return the place of DuckDB's overflow files, beside the database, quoted for SQL."""
    return quoted(Path(f"{path}.tmp"))


class Attached(NamedTuple):
    """A connection to a file that an engine has attached, and the thread that opened it."""

    engine: _Engine
    connection: duckdb.DuckDBPyConnection
    thread: int

    @property
    def is_read_only(self) -> bool:
        """Whether the connection cannot write."""
        return self.engine.is_read_only

    def close(self) -> None:
        """Close the connection, and detach the file if it was the last one."""
        self.connection.close()
        self.engine.leave(self.thread)


def quoted(path: Path) -> str:
    """Return a path escaped for use between quotes in SQL."""
    return str(path).replace("'", "''")


def _config(
    path: Path, limits: DatabaseLimits
) -> dict[str, Any]:  # of several types, as DuckDB takes them
    return {
        "memory_limit": f"{limits.memory_mb}MB",
        "threads": str(limits.threads),
        "temp_directory": f"{path}.tmp",
        "preserve_insertion_order": "false",
    }
