"""The durable store of answers, so that the same question is never paid for twice."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

import orjson

from callwright.llm.chat import ChatRequest, Prompt, RawReply
from callwright.warehouse.batches import batches
from callwright.warehouse.errors import CallwrightError, StoreError
from callwright.warehouse.records import Call

KEY_BYTES = 16
GROUPING = 0.005  # seconds in which answers are gathered into one commit
_PUT = "insert into answers (key, reply) values {} on conflict (key) do nothing"
# in one statement: each statement of the writing thread has to wait for the others' turns
_ROWS = 500
_GET = "select reply from answers where key = ?"
_DIGITS = 2 * KEY_BYTES
_AGAIN = 0.05  # seconds until a switch is tried again
_PATIENCE = 60.0  # seconds to wait for another process's commit


def ledger_key(request: ChatRequest, prompt: Prompt, schema: str) -> bytes:
    """Return the key of a request, a hash of everything that may change its answer.

    `schema` is the text of the request's schema.
    """
    tools = [tool.key for tool in request.tools]
    turns = [text for message in request.messages for text in (message.role, message.text)]
    by = (request.model, request.options, schema, prompt.name, prompt.version)
    key_parts = [
        *by,
        request.sample_index,
        tools,
        turns,
        *([request.marks] if request.marks else []),
    ]
    return blake2b(
        orjson.dumps(key_parts, option=orjson.OPT_SORT_KEYS), digest_size=KEY_BYTES
    ).digest()


def refuse(waiting: "asyncio.Future[Any]", error: BaseException) -> None:
    """Fail a waiting future with an error, unless it is already done."""
    if not waiting.done():
        waiting.set_exception(error)
        waiting.exception()  # looked at, so that asyncio says nothing where nobody waits any more


class _Batch:
    """The answers in one commit, and the callers that wait for it."""

    def __init__(self) -> None:
        self.rows: list[tuple[bytes, bytes]] = []
        self.ended = asyncio.Event()
        self.problem = "its event loop was closed before the commit"


class Ledger:
    """Answers by key in an SQLite file that processes may share; for one event loop at a time."""

    def __init__(self, path: Path) -> None:
        """Open the ledger at `path`, and create it if it does not exist.

        Raises StoreError if the file is not a ledger.
        """
        self.path = path
        self._reader = open_answers(path)
        self._writer = open_answers(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._batch: _Batch | None = None
        self._commits: set[asyncio.Task[None]] = set()
        self._asking: dict[bytes, asyncio.Future[RawReply]] = {}
        self._is_open = True

    async def get(self, key: bytes) -> RawReply | None:
        """Return the answer under `key`, or None if there is none."""
        self._must_be_open()
        try:
            row = self._reader.execute(_GET, (key,)).fetchone()
        except sqlite3.Error as error:
            raise StoreError(_FILE.damage(self.path, error)) from error
        if row is None:
            return None
        try:
            return _decode(row[0])
        except (ValueError, TypeError) as error:
            raise StoreError(_FILE.damage(self.path, error)) from error

    async def put(self, key: bytes, reply: RawReply) -> None:
        """Keep an answer; returns when it is on disk. The first answer under a key stays."""
        self._must_be_open()
        if self._batch is None:
            self._batch = _Batch()
            commit = asyncio.create_task(self._commit_soon(self._batch))
            self._commits.add(commit)
            commit.add_done_callback(self._commits.discard)
        batch = self._batch
        batch.rows.append((key, _encode(reply)))
        await batch.ended.wait()
        if batch.problem:
            problem = f"The ledger at {self.path} could not keep an answer: {batch.problem}."
            raise StoreError(problem)

    async def answer(
        self, key: bytes, ask: Callable[[], Awaitable[RawReply]]
    ) -> tuple[RawReply, bool]:
        """Return the answer under `key` and whether it was known, or else the answer of `ask`.

        `ask` runs once however many callers want the answer at the same time. Its error goes to
        all of them. If the caller that asks is cancelled, the next one asks.
        """
        while (asking := self._asking.get(key)) is not None:
            await asyncio.wait([asking])
            if not asking.cancelled():
                return asking.result(), True
        known = await self.get(key)
        if known is not None:
            return known, True
        asking = self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await ask()
            await self.put(key, reply)
            asking.set_result(reply)
        except CallwrightError as error:
            refuse(asking, error)
            raise
        finally:
            asking.cancel()  # does nothing to one that ended
            del self._asking[key]
        return reply, False

    async def close(self) -> None:
        """Commit pending answers and close the file."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            await asyncio.gather(*self._commits, return_exceptions=True)
        finally:
            self._thread.shutdown()
            self._reader.close()
            self._writer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def _must_be_open(self) -> None:
        if not self._is_open:
            raise StoreError(f"The ledger at {self.path} is closed; open it again.")

    async def _commit_soon(self, batch: _Batch) -> None:
        try:
            await asyncio.sleep(GROUPING)
            self._batch = None
            await asyncio.get_running_loop().run_in_executor(self._thread, self._commit, batch.rows)
            batch.problem = ""
        except StoreError as error:
            batch.problem = str(error)
        finally:
            if self._batch is batch:
                self._batch = None
            batch.ended.set()

    def _commit(self, rows: list[tuple[bytes, bytes]]) -> None:
        try:
            with self._writer:
                self._writer.execute("begin immediate")
                for start in range(0, len(rows), _ROWS):
                    some = rows[start : start + _ROWS]
                    sql = _PUT.format(", ".join(["(?, ?)"] * len(some)))
                    self._writer.execute(sql, list(chain(*some)))
        except sqlite3.Error as error:
            problem = f"{error}; see that the disk has room and that no process holds the file"
            raise StoreError(problem) from error


class AnswerFile(NamedTuple):
    """A type of SQLite file that keeps answers: its name, application id and tables.

    `is_sure` says that a commit survives a power cut; `without` says what happens if the file is
    missing.
    """

    what: str
    mark: int
    tables: str
    is_sure: bool
    without: str

    def open(self, path: Path) -> sqlite3.Connection:
        """Open a connection to the file at `path`, and create the file if it does not exist.

        Raises StoreError if the file is of another kind.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            message = (
                f"The {self.what} at {path} can't be opened ({error}); choose a folder to write to."
            )
            raise StoreError(message) from error
        try:
            self._set_up(connection, path)
        except sqlite3.Error as error:
            connection.close()
            raise StoreError(self.damage(path, error)) from error
        except StoreError:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: sqlite3.Connection, path: Path) -> None:
        if _mark_of(connection) != self.mark:
            with connection:
                # two processes may make the same file at the same moment
                connection.execute("begin immediate")
                held = connection.execute("select 1 from sqlite_master").fetchone()
                if held and _mark_of(connection) != self.mark:
                    raise StoreError(
                        f"The file {path} is an SQLite database but no {self.what}; give the"
                        f" {self.what} another name."
                    )
                connection.execute(f"pragma application_id = {self.mark}")
                for statement in filter(str.strip, self.tables.split(";")):
                    connection.execute(statement)
        _write_ahead(connection)
        connection.execute(f"pragma synchronous = {'full' if self.is_sure else 'normal'}")
        connection.execute("pragma cache_size = -8000")

    def damage(self, path: Path, error: Exception) -> str:
        """Return why a file cannot be read, and what to do about it."""
        # it is whole: SQLite says of a damaged one that it is no database
        if isinstance(error, sqlite3.OperationalError):
            return (
                f"The {self.what} at {path} can't be used now ({error}): another process holds it,"
                " or its disk is full or away. Let it stay where it is and try again, since"
                f" without it {self.without}."
            )
        return (
            f"The {self.what} at {path} can't be read ({error}). Move the file away to go on:"
            f" {self.without}."
        )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a file to its write-ahead log; retry, as SQLite gives up at once if it is busy."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN)
        else:
            return


def _mark_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma application_id").fetchone()[0])


_FILE = AnswerFile(
    "ledger",
    0x63776C67,
    "create table if not exists answers (key blob primary key, reply blob not null)",
    is_sure=True,
    without="its answers are asked and paid for again",
)
open_answers = _FILE.open


def _encode(reply: RawReply) -> bytes:
    calls = None if reply.calls is None else [[call.tool, call.arguments] for call in reply.calls]
    more = (reply.is_cut, reply.reasoning) if reply.reasoning else (True,) if reply.is_cut else ()
    usage = (reply.prompt_tokens, reply.completion_tokens, reply.cost)
    return orjson.dumps((reply.text, calls, *usage, reply.planted, *more))


def _decode(body: bytes) -> RawReply:
    text, call_pairs, *rest = orjson.loads(body)
    calls = None
    if call_pairs is not None:
        calls = tuple(Call(tool=tool, arguments=arguments) for tool, arguments in call_pairs)
    return RawReply(text, calls, *rest)


def known_keys(ledger: Path, keys: Iterable[str]) -> set[str]:
    """Return which of these keys have an answer."""
    with closing(open_answers(ledger)) as connection:
        answered_keys: set[str] = set()
        for some in batches(dict.fromkeys(keys), _ROWS):
            asked = f"select key from answers where key in ({', '.join('?' * len(some))})"  # noqa: S608 - marks only
            rows = connection.execute(asked, [*map(bytes.fromhex, some)])
            answered_keys |= {key.hex() for (key,) in rows}
    return answered_keys


def answers_of(ledger: Path, keys: Iterable[str]) -> Iterator[bytes]:
    """Yield the answers under these keys as lines; a key without an answer has no line."""
    with closing(open_answers(ledger)) as connection:
        for some in batches(dict.fromkeys(keys), _ROWS):
            asked = f"select key, reply from answers where key in ({', '.join('?' * len(some))})"  # noqa: S608 - marks only
            yield from _lines(connection.execute(asked, [bytes.fromhex(key) for key in some]))


def answers_after(ledger: Path, number: int) -> tuple[bytes, int]:
    """Return the answers after this number, as lines, and the number of the newest."""
    with closing(open_answers(ledger)) as connection:
        [(newest,)] = connection.execute("select coalesce(max(rowid), 0) from answers").fetchall()
        asked = "select key, reply from answers where rowid between ? and ?"
        return b"".join(_lines(connection.execute(asked, (number + 1, newest)))), int(newest)


def keep_answers(ledger: Path, lines: Iterable[bytes]) -> None:
    """Keep answers given as lines; the first answer under a key stays. Raises StoreError."""
    with closing(open_answers(ledger)) as connection:
        for some in batches(lines, _ROWS):
            split = ((line[:_DIGITS].decode(), line[_DIGITS + 1 :].rstrip()) for line in some)
            pairs = [(bytes.fromhex(key), reply) for key, reply in split]
            try:
                sql = _PUT.format(", ".join(["(?, ?)"] * len(pairs)))
                connection.execute(sql, list(chain.from_iterable(pairs)))
            except sqlite3.Error as error:
                problem = f"The ledger at {ledger} could not keep a worker's answers: {error}."
                raise StoreError(problem) from error


def _lines(rows: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    for key, reply in rows:
        yield b"%s %s\n" % (key.hex().encode(), reply)  # a reply is JSON of one line
