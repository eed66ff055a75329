"""The warehouse: migrations, views, bulk inserts and short transactions on one DuckDB file."""

import logging
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from callwright.warehouse.comments import comment_script, described_in, vocabulary_text
from callwright.warehouse.engine import (
    CATALOG,
    Answer,
    Attached,
    Connection,
    DatabaseFile,
    DatabaseLimits,
    require_condition,
)
from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.records import AnswerSort, Record, content_key
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.tables import SMALL, insert_statement, pieces, tables, write_batch
from callwright.warehouse.waiting import PATIENCE, QUERY_SECONDS

logger = logging.getLogger(__name__)

_BASELINE = "0001_baseline.sql"
_VIEWS = "views "  # before the version of the views, where the migrations are noted
_AT_ONCE = 500
Queries = Mapping[str, tuple[str, Sequence[Any]]]  # by name, each with its parameters


class Warehouse:
    """A DuckDB file that one process writes at a time; each method is one short transaction.

    DuckDB locks the file against every other process while it is open for writing, so the file
    is attached for each transaction and detached after it, or for a few consecutive ones
    (`together`). Another process waits for up to `patience` seconds and says so; all users
    within this process share what is attached, and write one at a time.
    """

    def __init__(
        self,
        path: Path,
        *,
        patience: float = PATIENCE,
        limits: DatabaseLimits | None = None,
        tell: Callable[[str], object] = logger.warning,
    ) -> None:
        """Set the file; nothing is opened until the first transaction.

        `tell` is called when a wait takes long.
        """
        self.path = path
        self.file = DatabaseFile(path, limits or DatabaseLimits(), patience, tell)
        self._migrated = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Open the file once for all transactions in the block, since opening it takes long."""
        with self.file.refusals(), closing(self._open_for_writing()):
            yield

    @contextmanager
    def reading_together(self) -> Iterator[None]:
        """Open the file once for reading, as other processes may; this thread can't write then."""
        with self.file.refusals(), closing(self._open_for_reading()):
            yield

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction: it is committed at the end and rolled back on any error.

        Raises StoreError.
        """
        with (
            self.file.refusals(),
            closing(self._open_for_writing()) as attached,
            self.file.turn(attached),
        ):
            connection = attached.connection
            connection.begin()
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a read-only connection to one state of the file, migrated first if absent or old."""
        with self.file.refusals(), closing(self._open_for_reading()) as attached:
            attached.connection.execute("begin transaction read only")
            yield attached.connection

    def beside(self, path: Path) -> "Warehouse":
        """Return another file, opened with the same settings."""
        file = self.file
        return Warehouse(path, patience=file.patience, limits=file.limits, tell=file.tell)

    def copy_to(self, target: Path) -> None:
        """Copy the file, with its modification time, as it is between two transactions.

        Writers wait while it is copied. What this process has attached is copied too. Raises
        OSError if the copy can't be written, StoreError if the file stays locked, this version
        can't read it, or this thread is in the middle of a transaction.
        """
        # What a killed process left in the log goes into the file.
        opened = (
            self.file.open(read_only=True) if self.file.is_at_rest() else self._open_for_writing()
        )
        with self.file.refusals(), closing(opened) as attached, self.file.turn(attached):
            _require_known(_applied(attached.connection), self.path)
            if not attached.is_read_only:
                attached.connection.execute(f"checkpoint {CATALOG}")
            # By another process: if this one closed the file, it would lose DuckDB's lock on it, in
            # all threads.
            words = ["cp", "-p", "--", str(self.path), str(target)]
            done = subprocess.run(words, check=False, capture_output=True, text=True)  # noqa: S603 - our own paths
        if done.returncode:
            raise OSError(done.stderr.strip() or f"cp ended with {done.returncode}")

    def is_current(self) -> bool:
        """Whether the file exists, is at rest, and has the form that this version writes."""
        if not self.file.is_at_rest():
            return False
        with self.file.refusals(), closing(self.file.open(read_only=True)) as attached:
            return _is_current(attached.connection)

    def is_copy_of(self, other: "Warehouse") -> bool:
        """Whether the other file is unchanged since this one was copied from it."""
        return (
            other.file.is_at_rest()
            and self.path.stat().st_mtime_ns == other.path.stat().st_mtime_ns
        )

    def put(self, records: Iterable[Record], *, made_at: datetime | None = None) -> None:
        """Store records, each in its table; the same record twice is stored once."""
        tables: dict[str, list[Row]] = defaultdict(list)
        for table, row in rows_of(records, made_at or datetime.now(UTC)):
            tables[table].append(row)
        self.put_rows(tables)

    def put_rows(self, tables: Mapping[str, Sequence[Row]], *, replacing: bool = False) -> None:
        """Keep rows in one transaction, in bulk; existing keys stay unless `replacing`."""
        if any(tables.values()):
            with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
                for table, rows in tables.items():
                    if rows:
                        write_batch(Path(folder) / f"{table}.jsonl", rows)
                self.put_files(Path(folder), replacing=replacing)

    def put_files(self, *folders: Path, replacing: bool = False) -> None:
        """Land folders of batches, named by table, in one transaction, if there are any."""
        files = [(table, folder / f"{table}.jsonl") for table, folder in product(tables(), folders)]
        sizes = {file: file.stat().st_size for _, file in files if file.is_file()}
        if not sizes:
            return
        is_large = max(sizes.values()) > SMALL
        with self.writing() as connection:
            if is_large:
                # each reader of JSON sets 32 MB aside, and one is fast enough
                connection.execute("set threads = 1")
            for table, file in files:
                for piece in pieces(file) if file in sizes else ():
                    sql = insert_statement(connection, table, piece, replacing=replacing)
                    connection.execute(sql)
            if is_large:
                # others may go on with what is open
                connection.execute(f"set threads = {self.file.limits.threads}")

    def mark_errors(
        self, mistakes: Mapping[str, str], sorts: Mapping[str, AnswerSort] = MappingProxyType({})
    ) -> None:
        """Record the kind of mistake of stored predictions by key, and how right ones are right.

        The `sorts` are those that are right otherwise than by the gold.
        """
        matched = ["" if mistake else sorts.get(key, "gold") for key, mistake in mistakes.items()]
        self.execute(
            """
            update predictions set error_type = m.mistake, matched = m.matched
            from (select unnest(?::varchar[]) as key, unnest(?::varchar[]) as mistake, unnest(?::varchar[]) as matched) m
            where predictions.key = m.key
            """,  # noqa: E501
            [list(mistakes), list(mistakes.values()), matched],
        )

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run one of callwright's own statements in a transaction of its own."""
        with self.writing() as connection:
            connection.execute(sql, list(parameters))

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of one of callwright's own queries, one dict each."""
        return self.rows_by_name({"": (sql, parameters)})[""]

    def rows_by_name(
        self, queries: Queries, *, worked_out: Sequence[str] = ()
    ) -> dict[str, list[Row]]:
        """Return the rows of several internal queries, all from one state of the file.

        Each query has its parameters. The views in `worked_out` are computed once for all of
        them, where DuckDB would plan them anew in each.
        """
        answers: dict[str, list[Row]] = {}
        with self.reading() as connection:
            # a temporary table comes before a view of its name, and goes with the connection
            for view in worked_out:
                connection.execute(f"create temp table {view} as from {CATALOG}.{view}")
            for name, (sql, parameters) in queries.items():
                found = connection.execute(sql, list(parameters))
                names = [column[0] for column in found.description or ()]
                answers[name] = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return answers

    def stream(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of an internal query in parts; no writes until the last is taken."""
        with self.reading() as connection:
            found = connection.execute(sql, list(parameters))
            while rows := found.fetchmany(_AT_ONCE):
                yield from rows

    def query(self, sql: str, seconds: float = QUERY_SECONDS, most: int | None = None) -> Answer:
        """Return the result of a user's query, which can change nothing and read no other file.

        Of its rows the first `most` are read. Raises ConfigurationError if the SQL is wrong,
        StoreError if it takes longer than `seconds`.
        """
        with self.reading():  # brought up to date
            pass
        return self.file.query(sql, seconds, most)

    def keys_where(self, condition: str) -> set[str]:
        """Return the keys of the accepted samples that satisfy a user's condition.

        Raises ConfigurationError if it is not a condition, StoreError if it takes too long.
        """
        require_condition(condition)
        try:
            _, rows = self.query(f"select key from accepted_samples where (\n{condition}\n)")  # noqa: S608 - one expression
        except ConfigurationError as error:
            known = ", ".join(self.query("select * from accepted_samples limit 0")[0])
            raise ConfigurationError(
                f"The condition {condition!r} can't be used on accepted samples; their columns are"
                f" {known}. {error}"
            ) from error
        return {str(key) for (key,) in rows}

    def _open_for_writing(self) -> Attached:
        attached = self.file.open(read_only=False)
        try:
            if not self._migrated:
                with self.file.turn(attached):
                    _migrate(attached.connection, self.path)
                self._migrated = True
        except BaseException:
            attached.close()
            raise
        return attached

    def _open_for_reading(self) -> Attached:
        """Open the file read-only.

        If it was not migrated yet, or was left in the middle of a write, it is opened for
        writing first.
        """
        if not self._migrated and self.file.is_at_rest():
            attached = self.file.open(read_only=True)
            if _is_current(attached.connection):
                self._migrated = True
                return attached
            attached.close()
        if not self._migrated:
            self._open_for_writing().close()
        return self.file.open(read_only=True)


class _Latest(NamedTuple):
    """A file as this version has it: migrations by name, in order, and views with a version."""

    scripts: dict[str, str]
    views: list[str]
    version: str


@cache
def _latest() -> _Latest:
    scripts, views = _read_scripts("migrations"), [*_read_scripts("views").values()]
    described = described_in([*scripts.values(), *views])
    # views that are there already are not written again
    version = content_key([*views, *(one.comment for one in described), vocabulary_text()])
    return _Latest(scripts, views, f"{_VIEWS}{version}")


def _read_scripts(folder: str) -> dict[str, str]:
    """Return the SQL files of a folder beside this module by name, in order."""
    listed = files("callwright.warehouse").joinpath(folder).iterdir()
    found = {file.name: file for file in listed if file.name.endswith(".sql")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def _is_current(connection: Connection) -> bool:
    return _applied(connection) == {*_latest().scripts, _latest().version}


def _applied(connection: Connection) -> set[str] | None:
    """Return the names of what was applied to a file, or None if the file has no tables yet."""
    named = connection.execute("select table_name from duckdb_tables()").fetchall()
    if ("migrations",) not in named:
        return set() if named else None
    return {name for (name,) in connection.execute("select name from migrations").fetchall()}


def _migrate(connection: Connection, path: Path) -> None:
    """Migrate the file: each migration once, in order, then this version's views.

    Raises StoreError, and changes nothing, if this version can't read the file.
    """
    scripts, views, version = _latest()
    applied = _applied(connection)
    _require_known(applied, path)
    done = applied or set()
    fresh = {name: script for name, script in scripts.items() if name not in done}
    if not fresh and version in done:
        return
    connection.begin()
    for name, script in fresh.items():
        connection.execute(script)
        connection.execute("insert into migrations (name) values (?)", [name])
    # Those that this version no longer has go, too.
    old = "select view_name from duckdb_views() where not internal"
    for (view,) in connection.execute(old).fetchall():
        connection.execute(f'drop view "{view}"')
    for view in views:
        connection.execute(view)
    told = "select table_name, column_name from duckdb_columns() where not internal"
    columns = connection.execute(told).fetchall()
    described = described_in([*scripts.values(), *views])
    connection.execute(comment_script(columns, described))
    connection.execute("delete from migrations where starts_with(name, ?)", [_VIEWS])
    connection.execute("insert into migrations (name) values (?)", [version])
    connection.commit()


def _require_known(applied: set[str] | None, path: Path) -> None:
    """Raise StoreError, which says what to do, if this version can't read the file."""
    if applied is None:
        return
    names = {name for name in applied if not name.startswith(_VIEWS)}
    if not names:
        raise StoreError(
            f"The DuckDB file {path} is not a warehouse of callwright. Move it away, or set"
            " CALLWRIGHT_HOME to another folder."
        )
    if _BASELINE not in names:
        raise StoreError(
            f"The warehouse {path} was made by a version of callwright before 1.0, and this version"
            " can't read its tables. Write its releases to files with that version (`callwright"
            " export RELEASE --to records`), move the warehouse away, and build again or read the"
            " files with `callwright release import`."
        )
    if ahead := sorted(names - _latest().scripts.keys()):
        raise StoreError(
            f"The warehouse {path} was made by a newer version of callwright (it has {ahead})."
            " Update callwright."
        )
