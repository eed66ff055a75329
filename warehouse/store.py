"""The DuckDB file: migrations, views, bulk inserts and short transactions. The only importer of duckdb."""

import logging
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import product
from math import inf
from pathlib import Path
from threading import RLock, get_ident
from typing import Any, ClassVar, NamedTuple, TypeVar

import duckdb
from pydantic import JsonValue

from warehouse.comments import comment_script, view_comments, vocabulary_text
from warehouse.errors import ConfigurationError, StoreError
from warehouse.records import Record, content_key
from warehouse.rows import Row, Stamp, rows_of
from warehouse.tables import TABLES, batch_source, insert_statement, pieces, write_batch

logger = logging.getLogger(__name__)

_VIEWS = "views "  # before the version of the views, where the migrations are noted
_FIRST_WAIT = 0.02
_LONGEST_WAIT = 0.5
_FIRST_WORD, _BETWEEN = 5.0, 30.0  # seconds until it is told that somebody waits, and between two times
_INTERRUPTED = "Query interrupted"  # all that DuckDB's binding leaves of a Ctrl-C while it works
_STORAGE = "v1.4.0"  # new files are written so that clients of this version of DuckDB and later ones read them
_AT_ONCE = 500
_KEPT_ENGINES = 2
_CATALOG = "warehouse"
_Opened = TypeVar("_Opened")


class DatabaseLimits(NamedTuple):
    """How much memory and how many threads DuckDB may take; past its memory it goes on with files beside the warehouse."""

    memory_mb: int = 1024
    threads: int = 2


class Warehouse:
    """A DuckDB file that one process writes at a time; each method is one short transaction.

    DuckDB locks the file against every other process while it is open for writing, so it is attached for each
    transaction and detached after it, or for a few that follow each other (`together`); whoever comes meanwhile waits up
    to `patience` seconds, and has that told.
    """

    def __init__(
        self,
        path: Path,
        *,
        patience: float = inf,
        limits: DatabaseLimits | None = None,
        tell: Callable[[str], object] = logger.warning,
    ) -> None:
        """Name the file; nothing is opened until the first transaction. Whoever waits long hears of it by `tell`."""
        self.path = path
        self.patience = patience
        self._limits = limits or DatabaseLimits()
        self._tell = tell
        self._migrated = False
        self._one_writer = RLock()  # threads that wrote at once would share one memory limit, and exceed it
        self._held: tuple[int, _Attached] | None = None  # by which thread

    @contextmanager
    def together(self) -> Iterator[None]:
        """Open the file once for all transactions of this thread within: opening it takes longer than a short one does."""
        if self._mine is not None:
            yield
            return
        with self._one_writer, self._refusals():
            attached = self._open_for_writing()
            self._held = get_ident(), attached
            try:
                yield
            finally:
                self._held = None
                attached.close()

    @property
    def _mine(self) -> "_Attached | None":
        """What this thread holds open."""
        held = self._held
        return held[1] if held is not None and held[0] == get_ident() else None

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection in a transaction: committed at the end, rolled back on any error. Raises StoreError."""
        with self._one_writer, self._refusals():
            attached = self._mine.again() if self._mine is not None else self._open_for_writing()
            connection = attached.connection
            try:
                connection.begin()
                try:
                    yield connection
                except BaseException:
                    connection.rollback()
                    raise
                connection.commit()
            finally:
                attached.close()

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection to the file as it is; an absent or old file is brought up to date first."""
        with self._refusals():
            attached = self._mine.again() if self._mine is not None else self._open_for_reading()
            try:
                yield attached.connection
            finally:
                attached.close()

    def beside(self, path: Path) -> "Warehouse":
        """Another file, opened as this one is."""
        return Warehouse(path, patience=self.patience, limits=self._limits, tell=self._tell)

    def copy_to(self, target: Path) -> None:
        """Copy the file as it is between two transactions, and its time; writers wait while it is copied.

        Raises OSError where the copy can't be written, StoreError where the file stays locked.
        """
        if not _is_at_rest(self.path):
            with self.writing():  # what a killed process left in the log goes into the file
                pass
        with self.reading():
            # By another process: if this one closed the file, it would lose DuckDB's lock on it, in all threads.
            words = ["cp", "-p", "--", str(self.path), str(target)]
            done = subprocess.run(words, check=False, capture_output=True, text=True)  # noqa: S603 - our own paths
        if done.returncode:
            raise OSError(done.stderr.strip() or f"cp ended with {done.returncode}")

    def write_for_older_clients(self) -> None:
        """Write a file that an earlier callwright began anew, so that DuckDB since 1.4 reads it; its time stays."""
        with self.reading() as connection:
            [[version]] = connection.execute(
                "select tags['storage_version'] from duckdb_databases() where database_name = current_database()"
            ).fetchall()
        if version == f"{_STORAGE}+":
            return
        written, fresh = self.path.stat(), self.path.with_suffix(".fresh")
        with self._refusals(), duckdb.connect(":memory:", config=_config(self.path, self._limits)) as engine:
            for name, file, how in (
                ("old", self.path, "read_only"),
                (_CATALOG, fresh, f"storage_version '{_STORAGE}'"),
            ):
                engine.execute(f"attach '{_quoted(file)}' as {name} (type duckdb, {how})")
            engine.execute(f"copy from database old to {_CATALOG}")
        os.utime(fresh, ns=(written.st_atime_ns, written.st_mtime_ns))
        fresh.replace(self.path)

    def is_current(self) -> bool:
        """Whether the file is there, at rest, and as this version writes it."""
        if not _is_at_rest(self.path):
            return False
        with self._refusals():
            attached = self._open(read_only=True)
            try:
                return _is_current(attached.connection)
            finally:
                attached.close()

    def is_copy_of(self, other: "Warehouse") -> bool:
        """Whether nothing was written to the other file since this one was copied from it."""
        return _is_at_rest(other.path) and self.path.stat().st_mtime_ns == other.path.stat().st_mtime_ns

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise StoreError(f"The warehouse {self.path} refused: {error}") from error
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from error
            raise

    def put(self, records: Iterable[Record], *, made_at: datetime | None = None) -> None:
        """Keep records, each in its table; the same record twice is kept once."""
        tables: dict[str, list[Row]] = defaultdict(list)
        for table, row in rows_of(records, Stamp(made_at or datetime.now(UTC))):
            tables[table].append(row)
        self.put_rows(tables)

    def put_rows(self, tables: Mapping[str, Sequence[Row]], *, replacing: bool = False) -> None:
        """Keep rows in one transaction, in bulk; what is there under a row's key stays unless `replacing`."""
        if any(tables.values()):
            with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
                for table, rows in tables.items():
                    if rows:
                        write_batch(Path(folder) / f"{table}.jsonl", rows)
                self.put_files(Path(folder), replacing=replacing)

    def put_files(self, *folders: Path, replacing: bool = False) -> None:
        """Land folders of batches, named by table, in one transaction."""
        with self.writing() as connection:
            connection.execute("set threads = 1")  # each reader of JSON sets 32 MB aside, and one is fast enough
            for table, folder in product(TABLES, folders):
                file = folder / f"{table}.jsonl"
                for piece in pieces(file) if file.is_file() else ():
                    connection.execute(insert_statement(table, batch_source(table, piece), replacing=replacing))
            connection.execute(f"set threads = {self._limits.threads}")  # others may go on with what is open

    def mark_errors(self, mistakes: Mapping[str, str]) -> None:
        """Note the kind of mistake of predictions that are kept, by their keys."""
        self.execute(
            """
            update predictions set error_type = m.mistake
            from (select unnest(?::varchar[]) as key, unnest(?::varchar[]) as mistake) m where predictions.key = m.key
            """,
            [list(mistakes), list(mistakes.values())],
        )

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run one statement of our own in a transaction of its own."""
        with self.writing() as connection:
            connection.execute(sql, list(parameters))

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a query of our own, as one dict each."""
        return self.rows_by_name({"": (sql, parameters)})[""]

    def rows_by_name(self, queries: Mapping[str, tuple[str, Sequence[Any]]]) -> dict[str, list[Row]]:
        """The rows of several queries of our own, all of one state of the file; each query has its parameters."""
        answers: dict[str, list[Row]] = {}
        with self.reading() as connection:
            for name, (sql, parameters) in queries.items():
                found = connection.execute(sql, list(parameters))
                names = [column[0] for column in found.description or ()]
                answers[name] = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return answers

    def stream(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query of our own, a few at a time; nobody can write until the last one is taken."""
        with self.reading() as connection:
            found = connection.execute(sql, list(parameters))
            while rows := found.fetchmany(_AT_ONCE):
                yield from rows

    def query(self, sql: str) -> tuple[list[str], list[tuple[JsonValue, ...]]]:
        """Column names and rows of somebody else's query, which can change nothing and read no other file.

        Raises ConfigurationError where the SQL is wrong.
        """
        with self.reading():  # brought up to date
            pass
        with self._refusals(), self._locked_up() as connection:
            try:
                found = connection.execute(sql)
                return [column[0] for column in found.description or ()], found.fetchall()
            except duckdb.Error as error:
                raise ConfigurationError(f"The query can't be run: {error}") from error

    @contextmanager
    def _locked_up(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection in a DuckDB of its own that reads this file and nothing else: that can't be taken back."""
        config = _config(self.path, self._limits)
        connection = self._when_free(lambda: duckdb.connect(str(self.path), read_only=True, config=config))
        try:
            connection.execute("set enable_external_access = false")
            connection.execute("set lock_configuration = true")
            yield connection
        finally:
            connection.close()

    def _open_for_writing(self) -> "_Attached":
        attached = self._open(read_only=False)
        try:
            if not self._migrated:
                _migrate(attached.connection, self.path)
                self._migrated = True
        except BaseException:
            attached.close()
            raise
        return attached

    def _open_for_reading(self) -> "_Attached":
        """Read-only; what nobody has brought forward yet, or was left in the middle of a write, is opened for writing first."""
        if not self._migrated and _is_at_rest(self.path):
            attached = self._open(read_only=True)
            if _is_current(attached.connection):
                self._migrated = True
                return attached
            attached.close()
        if not self._migrated:
            with self.writing():
                pass
        return self._open(read_only=True)

    def _open(self, *, read_only: bool) -> "_Attached":
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._when_free(lambda: _Engine.of(self.path, self._limits).attach(read_only=read_only))

    def _when_free(self, open_it: Callable[[], _Opened]) -> _Opened:
        """What `open_it` gives, as soon as nobody else has the file open. Raises StoreError after the patience."""
        began = time.monotonic()
        wait, next_word = _FIRST_WAIT, _FIRST_WORD
        while True:
            try:
                return open_it()
            # This process has it open otherwise, or is closing it in another thread: a moment, then again.
            except (duckdb.ConnectionException, duckdb.ResourceInUseException) as error:
                problem: duckdb.Error = error
            except duckdb.IOException as error:
                if "lock" not in str(error):
                    raise StoreError(f"The warehouse {self.path} can't be opened: {error}") from error
                problem = error
            except duckdb.Error as error:
                raise StoreError(f"The warehouse {self.path} can't be opened: {error}") from error
            waited = time.monotonic() - began
            if waited + wait > self.patience:
                raise StoreError(
                    f"The warehouse {self.path} stayed locked by another process for {self.patience:g} s. "
                    f"Wait for that process to end, or stop it: {problem}"
                ) from problem
            if waited > next_word:
                self._tell(
                    f"Another process has the warehouse {self.path} open; waited {waited:.0f} s so far: {problem}"
                )
                next_word += _BETWEEN
            time.sleep(wait)
            wait = min(_LONGEST_WAIT, wait * 2)


def query_file(path: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of a query on somebody's own DuckDB file, which it can't change, and beside which it reads nothing.

    Raises ConfigurationError where there is no such file or the SQL is wrong.
    """
    if not path.is_file():
        raise ConfigurationError(f"There is no DuckDB file {str(path)!r}.")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            connection.execute("set enable_external_access = false")
            connection.execute("set lock_configuration = true")
            found = connection.execute(sql)
            return [column[0] for column in found.description or ()], found.fetchall()
    except duckdb.Error as error:
        raise ConfigurationError(f"The query on {str(path)!r} can't be run: {error}") from error


class _Engine:
    """A DuckDB of this process to which one file is attached while somebody uses it; between its uses nobody locks the file.

    Starting a DuckDB takes 20 ms and attaching a file 7 ms, so the engines of the files that were used last are kept.
    Those that attach the file at once for the same purpose share it; any other has to wait.
    """

    _kept: ClassVar[dict[tuple[Path, DatabaseLimits], "_Engine"]] = {}
    _guard: ClassVar[RLock] = RLock()  # a generator that is thrown away may leave an engine while another is taken

    def __init__(self, path: Path, limits: DatabaseLimits) -> None:
        self._path = path
        self._key = path, limits
        self.users = 0
        self._read_only = False
        self._duckdb = duckdb.connect(":memory:", config=_config(path, limits))

    @classmethod
    def of(cls, path: Path, limits: DatabaseLimits) -> "_Engine":
        """The engine for this file, made where none is kept."""
        with cls._guard:
            engine = cls._kept.pop((path, limits), None) or cls(path, limits)
            cls._kept[path, limits] = engine  # the last one used is the last one of them
            idle = [one for one in cls._kept.values() if not one.users and one is not engine]
            for one in idle[:-_KEPT_ENGINES]:
                one.end()
            return engine

    def attach(self, *, read_only: bool) -> "_Attached":
        """A connection to the file. Raises duckdb.Error where it is in use otherwise or can't be read."""
        with self._guard:
            if self.users and self._read_only != read_only:
                raise duckdb.ResourceInUseException("This process has it open otherwise.")
            if not self.users:
                try:
                    mode = "read_only" if read_only else "read_write"
                    if not self._path.exists():
                        mode = f"storage_version '{_STORAGE}'"
                    self._duckdb.execute(f"attach '{_quoted(self._path)}' as {_CATALOG} (type duckdb, {mode})")
                except (duckdb.IOException, duckdb.ResourceInUseException):
                    raise  # locked or no database; the engine is as good as before
                except duckdb.Error:
                    self.end()
                    raise
                self._read_only = read_only
            self.users += 1
        return _Attached(self, self._cursor())

    def again(self) -> "_Attached":
        """Another connection to the file that is attached."""
        with self._guard:
            self.users += 1
        return _Attached(self, self._cursor())

    def leave(self) -> None:
        """Detach the file if nobody uses it any more."""
        with self._guard:
            self.users -= 1
            if self.users:
                return
            try:
                self._duckdb.execute(f"detach {_CATALOG}")
            except duckdb.Error:  # it could not be tidied up; what was committed is in the log beside the file
                logger.debug("The warehouse could not be detached.", exc_info=True)
                self.end()
            if Path(f"{self._path}.tmp").exists():  # it goes with the engine that made it
                self.end()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = self._duckdb.cursor()
        cursor.execute(f"use {_CATALOG}")
        return cursor

    def end(self) -> None:
        """Keep it no more."""
        if self._kept.get(self._key) is self:
            del self._kept[self._key]
        self._duckdb.close()


class _Attached(NamedTuple):
    """A connection to a file that an engine has attached."""

    engine: _Engine
    connection: duckdb.DuckDBPyConnection

    def again(self) -> "_Attached":
        """Another connection beside this one."""
        return self.engine.again()

    def close(self) -> None:
        """Close the connection, and detach the file if it was the last one."""
        self.connection.close()
        self.engine.leave()


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _config(path: Path, limits: DatabaseLimits) -> dict[str, Any]:  # of several types, as DuckDB takes them
    return {
        "memory_limit": f"{limits.memory_mb}MB",
        "threads": str(limits.threads),
        "temp_directory": f"{path}.tmp",
        "preserve_insertion_order": "false",
    }


class _Latest(NamedTuple):
    """What this version makes of a file: its migrations by name, in order, and its views with their version."""

    scripts: dict[str, str]
    views: list[str]
    version: str


@cache
def _latest() -> _Latest:
    scripts, views = (
        {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.iterdir(), key=lambda file: file.name)
         if file.name.endswith(".sql")}
        for folder in (files("warehouse").joinpath(name) for name in ("migrations", "views"))
    )  # fmt: skip
    texts = list(views.values())
    return _Latest(
        scripts, texts, f"{_VIEWS}{content_key([*texts, vocabulary_text()])}"
    )  # views that are there already are not written again


def _is_at_rest(path: Path) -> bool:
    """Whether there is a file that nobody left in the middle of a write."""
    return path.is_file() and path.stat().st_size > 0 and not Path(f"{path}.wal").exists()


def _is_current(connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        done = connection.execute("select name from migrations").fetchall()
    except duckdb.CatalogException:
        return False
    return {name for (name,) in done} == {*_latest().scripts, _latest().version}


def _migrate(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Bring the file forward: each migration once, in order; then the views as this version has them."""
    connection.execute(
        "create table if not exists migrations (name varchar primary key, made_at timestamptz default now())"
    )
    done = {name for (name,) in connection.execute("select name from migrations").fetchall()}
    scripts, views, version = _latest()
    ahead = {name for name in done - scripts.keys() if not name.startswith(_VIEWS)}
    if ahead:
        raise StoreError(
            f"The warehouse {path} was written by a newer callwright (it has {sorted(ahead)}). Update callwright."
        )
    fresh = {name: script for name, script in scripts.items() if name not in done}
    if not fresh and version in done:
        return
    connection.begin()
    for name, script in fresh.items():
        connection.execute(script)
        connection.execute("insert into migrations (name) values (?)", [name])
    for view in views:
        connection.execute(view)
    columns = connection.execute("select table_name, column_name from duckdb_columns() where not internal").fetchall()
    connection.execute(comment_script(columns, view_comments(views)))
    connection.execute("delete from migrations where starts_with(name, ?)", [_VIEWS])
    connection.execute("insert into migrations (name) values (?)", [version])
    connection.commit()
