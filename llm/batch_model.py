"""Batches: requests gathered in a file and answered within a day, at half price where offered.

Any provider that supports OpenAI's files and batches will do. Open batches are kept in the
ledger's file under the keys of their requests, so a build that was stopped waits for the same
batch again.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast
from uuid import uuid4

import orjson

from callwright.llm.answer_schemas import RefusedError, StatedSchema
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.ledger import open_answers, refuse
from callwright.llm.openai_model import WELL, OpenAIModel, document_of
from callwright.llm.refusals import Kind, refusal
from callwright.warehouse.errors import (
    CallwrightError,
    ConfigurationError,
    ReplyError,
    StoreError,
    TransientError,
)
from callwright.warehouse.wire_names import WireNames, wire_names

MOST_REQUESTS = 50_000  # in one file, as OpenAI has it
MOST_BYTES = 190_000_000  # 200 MB are allowed
_WHOLE = "completed"
_ENDED = frozenset({_WHOLE, "failed", "expired", "cancelled"})
_UNKNOWN = 404
_FOR_GOOD = frozenset({400, _UNKNOWN, 413, 422})  # not for want of a key, of money or of time
_NO_SUCH_DOOR = frozenset({_UNKNOWN, 405})

logger = logging.getLogger(__name__)


class BatchPace(NamedTuple):
    """The timing of batches, in seconds.

    A batch is sent when no request has come for `gather`, and is polled every `poll`. If no poll
    succeeds for `patience`, those waiting are notified.
    """

    gather: float = 5.0
    poll: float = 60.0
    patience: float = 300.0


class _Line(NamedTuple):
    key: bytes
    text: bytes


class BatchModel(OpenAIModel):
    """One model of one server, asked in batches."""

    _in_batches = True

    def __init__(
        self,
        name: str,
        *,
        ledger: Path | None,
        pace: BatchPace,
        api_base: str,
        **shared: Any,  # noqa: ANN401
    ) -> None:
        """Take the arguments of OpenAIModel; requests in progress are kept in the file `ledger`."""
        super().__init__(name, api_base=api_base, ledger=ledger, **shared)
        self._base = api_base
        self._ledger = ledger
        self._pace = pace
        self._store: BatchStore | None = None
        self._waiting: dict[bytes, asyncio.Future[dict[str, Any]]] = {}
        self._gathered: list[_Line] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._following: dict[str, asyncio.Task[None]] = {}
        self._shipping: set[asyncio.Task[None]] = set()
        # handed in by this process, so that no batch can have been begun
        self._fresh: set[str] = set()

    async def send_under(self, key: bytes, request: ChatRequest) -> RawReply:
        """Answer a request kept under `key`, in the next batch or the one that holds it already.

        `key` is the request's key in the ledger. If its schema is refused, it goes into another
        batch in a plainer form.
        """
        if self._session is None:
            await self._open()
        names = wire_names(request.tools)

        async def send(stated: StatedSchema | None) -> RawReply:
            try:
                return self._read(await self._answered(key, request, names, stated))
            except ReplyError as error:
                raise RefusedError(str(error), error) from error.__cause__

        return await self._forms.ask(request, send, is_known=self._price.takes_schemas)

    async def _answered(
        self, key: bytes, request: ChatRequest, names: WireNames, stated: StatedSchema | None
    ) -> dict[str, Any]:
        """Return the provider's answer from a batch, possibly submitted by an earlier process."""
        waiting = self._waiting.get(key)
        if waiting is None:
            file, kept = self._stored.find(key)
            if kept is not None:
                return cast("dict[str, Any]", orjson.loads(kept))
            waiting = self._waiting[key] = asyncio.get_running_loop().create_future()
            if file:
                self._follow(file)
            else:
                body, _ = self._body(request, names, stated)
                self._gather(_Line(key, write_line(key, body)))
        return await asyncio.shield(waiting)

    async def close(self) -> None:
        """Stop waiting; open batches go on at the provider, and a later run fetches them."""
        if self._timer is not None:
            self._timer.cancel()
        under_way = [*self._shipping, *self._following.values()]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        store, self._store = self._store, None
        if store is not None:
            store.close()
        await super().close()

    @property
    def _stored(self) -> "BatchStore":
        if self._ledger is None:
            raise ConfigurationError(
                f"The model {self._asked.name!r} can't be asked in batches where no ledger keeps"
                " them."
            )
        if self._store is None:
            self._store = BatchStore(self._ledger)
        return self._store

    def _gather(self, line: _Line) -> None:
        self._gathered.append(line)
        self._size += len(line.text) + 1
        if self._timer is not None:
            self._timer.cancel()
        if len(self._gathered) >= MOST_REQUESTS or self._size >= MOST_BYTES:
            self._ship()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._pace.gather, self._ship)

    def _ship(self) -> None:
        lines, self._gathered, self._size = self._gathered, [], 0
        task = asyncio.create_task(self._hand_in(lines))
        self._shipping.add(task)
        task.add_done_callback(self._shipping.discard)
        task.add_done_callback(self._see_to_bugs)

    async def _hand_in(self, lines: list[_Line]) -> None:
        """Upload a file of requests and follow its batch to the end."""
        keys = [line.key for line in lines]
        try:
            text = b"\n".join(line.text for line in lines)
            file = (await self._call("POST", "/files", *form(text)))["id"]
            self._stored.hand_in(file, keys)
        except CallwrightError as error:
            self._fail(keys, error)
            return
        self._fresh.add(file)
        logger.info("%s: %d requests are handed in as %s", self._asked.name, len(lines), file)
        self._follow(file)

    def _follow(self, file: str) -> None:
        if file not in self._following:
            task = self._following[file] = asyncio.create_task(self._see_through(file))
            task.add_done_callback(lambda _: self._following.pop(file, None))
            task.add_done_callback(self._see_to_bugs)

    def _see_to_bugs(self, task: asyncio.Task[None]) -> None:
        """Fail all waiting requests if the task ended in an unexpected error."""
        if not task.cancelled() and (bug := task.exception()) is not None:
            for key in list(self._waiting):
                refuse(self._waiting.pop(key), bug)

    async def _see_through(self, file: str) -> None:
        """Process a file to its end: start or find its batch, await it, keep and report replies."""
        keys = self._stored.keys_of(file)
        try:
            batch = self._stored.batch_of(file) or await self._begin(file)
            ended = await self._ended(file, batch)
            replies, errors = await self._results(ended)
            if ended["status"] != _WHOLE or len(replies) < len(keys):  # whoever waits asks again
                figures = (ended.get("id"), ended["status"], len(keys) - len(replies), len(keys))
                text = "%s: the batch %s is %s, and %d of its %d requests have no answer"
                logger.warning(text, self._asked.name, *figures)
            self._stored.end(file, {key: orjson.dumps(reply) for key, reply in replies.items()})
        except CallwrightError as error:
            self._fail(keys, error)
            return
        for key in keys:
            waiting = self._waiting.pop(key, None)
            if waiting is not None and key in replies:
                waiting.set_result(replies[key])
            elif waiting is not None:
                told = f"the batch {ended.get('id')} is {ended['status']}"
                silent = refusal("busy", self._asked, f"{told} without a word on the request")
                refuse(waiting, errors.get(key) or silent)

    async def _begin(self, file: str) -> str:
        """Return the batch of a file: one created before a crash, or else a new one."""
        listed = {} if file in self._fresh else await self._call("GET", "/batches?limit=100")
        self._fresh.discard(file)
        begun = listed.get("data") or ()
        batch = next((one["id"] for one in begun if one.get("input_file_id") == file), "")
        if not batch:
            wish = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
            batch = (await self._call("POST", "/batches", orjson.dumps(wish), of=file))["id"]
        self._stored.name(file, batch)
        return str(batch)

    async def _ended(self, file: str, batch: str) -> dict[str, Any]:
        """Poll a batch until it has ended, and return it."""
        seen = time.monotonic()
        while True:
            try:
                batch_document = await self._call("GET", f"/batches/{batch}", of=file)
                seen = time.monotonic()
                if batch_document.get("status") in _ENDED:
                    break
            except TransientError:
                if time.monotonic() - seen > self._pace.patience or not self._stored.batch_of(file):
                    raise
            await asyncio.sleep(self._pace.poll)
        if batch_document["status"] != "failed":
            return batch_document
        # It was not even begun: its first error is about all requests in it.
        self._stored.end(file, {})
        reported = (batch_document.get("errors") or {}).get("data") or ()
        first = next((one for one in reported if isinstance(one, dict)), {})
        text = (
            f"the batch {batch_document.get('id')} failed:"
            f" {first.get('message') or 'it is not said why'}"
        )
        # What waits at the provider is limited too, and gets less by itself.
        kind: Kind = "busy" if "limit" in str(first.get("code")) else "settings"
        raise refusal(kind, self._asked, text)

    async def _results(
        self, batch: dict[str, Any]
    ) -> tuple[dict[bytes, dict[str, Any]], dict[bytes, CallwrightError]]:
        """Return the replies of a batch by key, and the errors of requests without one."""
        replies: dict[bytes, dict[str, Any]] = {}
        errors: dict[bytes, CallwrightError] = {}
        for name in ("output_file_id", "error_file_id"):
            if not batch.get(name):
                continue
            for key, line in read_lines(await self._fetch(f"/files/{batch[name]}/content")):
                stated = line.get("response")
                response = stated if isinstance(stated, dict) else {}
                body = response.get("body")
                is_well = response.get("status_code") == WELL
                if is_well and isinstance(body, dict) and body.get("choices"):
                    replies[key] = body
                else:
                    errors[key] = self._line_refused(response, line.get("error"))
        return replies, errors

    def _line_refused(self, response: dict[str, Any], error: object) -> CallwrightError:
        if response:
            body, status = response.get("body"), response.get("status_code")
            known = status if isinstance(status, int) else 0
            return self._refused(known, {}, orjson.dumps(body), body)
        code = str(error.get("code") or "") if isinstance(error, dict) else ""
        text = str(error.get("message") or error) if isinstance(error, dict) else str(error)
        # What was not begun in time is asked again, in another batch.
        kind: Kind = "busy" if "expired" in code or "cancel" in code else "request"
        return refusal(kind, self._asked, text)

    def _fail(self, keys: Iterable[bytes], error: CallwrightError) -> None:
        for key in keys:
            if (waiting := self._waiting.pop(key, None)) is not None:
                refuse(waiting, error)

    async def _call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "application/json",
        *,
        of: str = "",
    ) -> dict[str, Any]:
        """Return an endpoint's answer.

        If it refuses the file `of` for good, the file is forgotten and its requests are sent
        anew. Raises ConfigurationError if the server does not support batches.
        """
        headers = {"Content-Type": kind}
        status, reported, content = await self._exchange(method, self._base + path, body, headers)
        answer = document_of(content)
        if status == WELL and isinstance(answer, dict):
            return answer
        if path == "/files" and status in _NO_SUCH_DOOR:
            raise ConfigurationError(
                f"The server at {self._base} does not support batches. Remove batch: true from the "
                f"settings of {self._asked.name!r}."
            )
        if of and status in _FOR_GOOD:
            self._stored.end(of, {})
        if path != "/batches" and status == _UNKNOWN:
            raise refusal("busy", self._asked, f"nothing is known any more of {path}")
        raise self._refused(status, reported, content, answer)

    async def _fetch(self, path: str) -> bytes:
        status, reported, content = await self._exchange("GET", self._base + path)
        if status != WELL:
            raise self._refused(status, reported, content, document_of(content))
        return content


ENDPOINT = "/v1/chat/completions"


def write_line(key: bytes, body: bytes) -> bytes:
    """Return a request as a line of a batch file; `body` is already JSON."""
    told = f'{{"custom_id":"{key.hex()}","method":"POST","url":"{ENDPOINT}","body":'
    return told.encode() + body + b"}"


def form(lines: bytes) -> tuple[bytes, str]:
    """Return a file of requests as form data, with the content type of the form."""
    mark = uuid4().hex
    head = (
        f"--{mark}\r\nContent-Disposition: form-data;"
        f' name="purpose"\r\n\r\nbatch\r\n--{mark}\r\nContent-Disposition: form-data; name="file";'
        ' filename="requests.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n'
    )
    whole = head.encode() + lines + f"\r\n--{mark}--\r\n".encode()
    return whole, f"multipart/form-data; boundary={mark}"


def read_lines(content: bytes) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the complete lines of a result file by key; requests without a line are sent again."""
    for line in content.splitlines():
        read = document_of(line)
        if isinstance(read, dict):
            try:
                yield bytes.fromhex(str(read.get("custom_id"))), read
            except ValueError:
                continue


_TABLES = """
create table if not exists batch_files (file text primary key, batch text not null default '');
create table if not exists batch_lines (key blob primary key, file text not null, reply blob);
"""
# What has found its way into the ledger since is there twice.
_SETTLED = "delete from batch_lines where reply is not null and key in (select key from answers)"


class BatchStore:
    """Files of requests handed in, the batch of each, and replies that nobody has fetched yet."""

    def __init__(self, path: Path) -> None:
        """Open the ledger's file at `path`."""
        self._path = path
        self._connection = open_answers(path)
        with self._telling():
            self._connection.executescript(_TABLES)
            self._connection.execute(_SETTLED)

    def find(self, key: bytes) -> tuple[str, bytes | None]:
        """Return the file in which a request was handed in, and its reply.

        The file is "" if the request was not handed in; the reply is None until it has come.
        """
        found = self._do("select file, reply from batch_lines where key = ?", (key,))
        return found[0] if found else ("", None)

    def hand_in(self, file: str, keys: Iterable[bytes]) -> None:
        """Note a file before its batch is made, so that a later run looks for the batch first."""
        with self._telling():
            self._connection.execute("begin immediate")
            self._connection.execute("insert into batch_files (file) values (?)", (file,))
            put = (
                "insert into batch_lines (key, file) values (?, ?) on conflict (key) do update set"
                " file = excluded.file"
            )
            self._connection.executemany(put, [(key, file) for key in keys])

    def batch_of(self, file: str) -> str:
        """Return the batch that was created from a file, or "" if unknown."""
        found = self._do("select batch from batch_files where file = ?", (file,))
        return str(found[0][0]) if found else ""

    def name(self, file: str, batch: str) -> None:
        """Record the batch that was created from a file."""
        self._do("update batch_files set batch = ? where file = ?", (batch, file))

    def keys_of(self, file: str) -> list[bytes]:
        """Return the keys of the requests in a file that have no reply yet."""
        asked = "select key from batch_lines where file = ? and reply is null"
        return [key for (key,) in self._do(asked, (file,))]

    def end(self, file: str, replies: Mapping[bytes, bytes]) -> None:
        """Keep a finished file's replies; forget its other requests, which were never handed in."""
        with self._telling():
            self._connection.execute("begin immediate")
            put = "update batch_lines set reply = ? where key = ? and file = ?"
            rows = [(reply, key, file) for key, reply in replies.items()]
            self._connection.executemany(put, rows)
            left = "delete from batch_lines where file = ? and reply is null"
            self._connection.execute(left, (file,))
            self._connection.execute("delete from batch_files where file = ?", (file,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _do(self, statement: str, values: tuple[object, ...]) -> list[Any]:  # rows of any columns
        with self._telling():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            with self._connection:
                yield
        except sqlite3.Error as error:
            raise StoreError(
                f"The ledger at {self._path} could not keep what is known of batches: {error}."
            ) from error
