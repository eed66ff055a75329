"""The response store: an environment's answers by content and time, and its failures."""

import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import JsonValue, TypeAdapter

from callwright.generators.catalogs.catalog import StatedError
from callwright.generators.environments.protocol import CallResponse
from callwright.llm.ledger import AnswerFile
from callwright.warehouse.errors import StoreError
from callwright.warehouse.records import Call, Link, Tool, content_key

# stands for what the files of a server's folder hold, in place of a call
FILES = Call(tool="{folder}")
_TABLES = """
create table if not exists responses (
    environment text not null, key text not null, version integer not null, call blob not null, answer blob not null,
    recorded_at text not null, seen_at text not null, primary key (environment, key, version)
) without rowid;
create table if not exists lapses (
    environment text not null, key text not null, problem text not null, call blob not null, times integer not null,
    last_at text not null, primary key (environment, key, problem)
) without rowid;
create table if not exists descriptions (environment text primary key, basis text not null, body blob not null);
"""  # noqa: E501
# Each answer is a commit of its own, not a grouped one as in the ledger: nothing was paid for it,
# so it need not survive a power cut, and without a wait for the disk a commit costs microseconds.
_FILE = AnswerFile(
    "response store", 0x63777273, _TABLES, is_sure=False, without="everything is asked again"
)
_GET = (
    "select version, answer, recorded_at from responses where environment = ? and key = ? order by"
    " version desc limit 1"
)
_PUT = "insert into responses values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing"
_SEEN = "update responses set seen_at = ? where environment = ? and key = ? and version = ?"
_LAPSE = """
insert into lapses values (?, ?, ?, ?, 1, ?)
on conflict do update set times = times + 1, last_at = excluded.last_at
"""
_ALL = (
    "select key, version, call, answer, recorded_at, seen_at from responses where environment = ?"
    " order by key, version"
)
_LAPSES = (
    "select call, problem, times, last_at from lapses where environment = ? order by last_at, key,"
    " problem"
)
_DESCRIBE = (
    "insert into descriptions values (?, ?, ?) on conflict do update set basis = excluded.basis,"
    " body = excluded.body"
)


class Stored(NamedTuple):
    """A stored answer: its version among the call's answers, from 0, and when it was seen.

    `after` are the calls, in order, that had changed the server's state since its reset.
    """

    key: str
    version: int
    call: Call
    answer: CallResponse
    recorded_at: datetime
    seen_at: datetime
    after: tuple[Call, ...] = ()


class Lapse(NamedTuple):
    """A call without an answer of its own: why, how often, and when last."""

    call: Call
    problem: str
    times: int
    last_at: datetime


class Drift(NamedTuple):
    """A call that got a different answer when it was repeated; the later answer counts."""

    call: Call
    earlier: CallResponse
    later: CallResponse
    recorded_at: datetime
    rerecorded_at: datetime


class Description(NamedTuple):
    """The tools and links of an environment; `calls` get answers, and people can ask for them.

    `operations` are the method and path of each tool, in the tools' order, if only a document
    states them; `errors` are those that the document declares for each. `unanswered` are tools
    of a server of which no call was answered during exploration; they are on no path. `told_by`
    are the calls that reveal the state of a server that is reset, None for all other
    environments, and `reading` names its tools that change nothing.
    """

    tools: tuple[Tool, ...]
    links: tuple[Link, ...]
    calls: tuple[Call, ...] = ()
    operations: tuple[tuple[str, str], ...] = ()
    unanswered: tuple[Tool, ...] = ()
    errors: tuple[tuple[StatedError, ...], ...] = ()
    reading: tuple[str, ...] = ()
    told_by: tuple[Call, ...] | None = None


@cache
def _descriptions() -> TypeAdapter[Description]:
    return TypeAdapter(Description)


def dumped_description(description: Description) -> list[Any]:
    """Return a description as JSON for `description_from`.

    Without a server that is reset, the last two fields are left out.
    """
    whole: list[Any] = _descriptions().dump_python(description, mode="json")
    return whole[:-2] if description.told_by is None else whole


def description_from(dumped: list[Any]) -> Description:
    """Return the dumped description; parts that older stores lack are optional.

    Raises ValueError if it is not a description.
    """
    return _descriptions().validate_python(dumped)


def kept_description(path: Path, environment: str, basis: str = "") -> Description | None:
    """Return the stored description of an environment, or None if there is none for this basis."""
    with closing(ResponseStore(path)) as store:
        return store.description(environment, basis)


def response_rows(store: "ResponseStore", environment: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the warehouse's table `responses`."""
    for stored_response in store.stored(environment):
        if stored_response.after:
            after = {"after": [before.model_dump(mode="json") for before in stored_response.after]}
        else:
            after = {}
        yield {
            "environment": environment,
            "key": stored_response.key,
            "version": stored_response.version,
            "tool": stored_response.call.tool,
            "call": orjson.dumps(stored_response.call.model_dump(mode="json") | after).decode(),
            "response": orjson.dumps(stored_response.answer.response).decode(),
            "problem": stored_response.answer.problem,
            "recorded_at": stored_response.recorded_at,
            "seen_at": stored_response.seen_at,
        }


def lapse_rows(store: "ResponseStore", environment: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the warehouse's table `lapses`."""
    for lapse in store.lapses(environment):
        row = lapse._asdict() | {"environment": environment, "key": call_key(lapse.call)}
        yield row | {"call": lapse.call.model_dump_json()}


def pack_responses(path: Path, environments: Sequence[str], since: float = 0.0) -> bytes:
    """Return these environments' new entries of a store since a time, as a store's bytes."""
    moment = datetime.fromtimestamp(since, UTC).isoformat()
    with closing(ResponseStore(path)), closing(_FILE.open(Path(":memory:"))) as packed:
        packed.execute("attach ? as whole", (str(path),))
        marks = ", ".join("?" * len(environments))
        for table, age in (
            ("responses", "seen_at"),
            ("lapses", "last_at"),
            ("descriptions", f"'{moment}'"),
        ):
            packed.execute(
                f"insert into {table} select * from whole.{table} where {age} >= ? and environment"  # noqa: S608
                f" in ({marks})",
                (moment, *environments),
            )
        packed.execute("detach whole")
        return packed.serialize()


def merge_responses(path: Path, packed: bytes) -> None:
    """Merge another store's answers; an answer that differs from ours becomes a new version."""
    with (
        closing(ResponseStore(path)) as store,
        tempfile.NamedTemporaryFile(dir=path.parent) as file,
    ):
        file.write(packed)
        file.flush()
        with closing(ResponseStore(Path(file.name))) as other_store:
            for environment in other_store.environments():
                for one in other_store.stored(environment):
                    store.renew(environment, one.call, one.answer, one.after)
                for lapse in other_store.lapses(environment):
                    store.note_lapse(environment, lapse.call, lapse.problem)
            store.take_descriptions(other_store)


def call_key(call: Call, after: Sequence[Call] = ()) -> str:
    """Return a call's key within its environment, which includes the calls made before it."""
    stated: dict[str, JsonValue] = {"tool": call.tool, "arguments": call.arguments}
    return content_key(stated | ({"after": [call_key(one) for one in after]} if after else {}))


class ResponseStore:
    """Answers by environment and call, in an SQLite file that several processes may open."""

    def __init__(self, path: Path) -> None:
        """Open the store at `path`; create it if it does not exist.

        Raises StoreError if the file is something else.
        """
        self.path = path
        self._connection = _FILE.open(path)

    def get(self, environment: str, call: Call, after: Sequence[Call] = ()) -> CallResponse | None:
        """Return the newest answer to a call made after others, or None."""
        rows = self._rows(_GET, (environment, call_key(call, after)))
        return _answer(rows[0][1]) if rows else None

    def put(
        self, environment: str, call: Call, answer: CallResponse, after: Sequence[Call] = ()
    ) -> CallResponse:
        """Store the first answer to a call; return it, or another process's if that was earlier."""
        self._write(_PUT, _row(environment, call, 0, answer, after))
        return self.get(environment, call, after) or answer

    def renew(
        self, environment: str, call: Call, answer: CallResponse, after: Sequence[Call] = ()
    ) -> None:
        """Store a call's current answer, as a new version if it differs, else as seen again."""
        key = call_key(call, after)
        rows = self._rows(_GET, (environment, key))
        known = _answer(rows[0][1]) if rows else None
        if known is not None and known == (answer if known.error else answer._replace(error="")):
            self._write(_SEEN, (_now(), environment, key, rows[0][0]))
        else:
            self._write(_PUT, _row(environment, call, rows[0][0] + 1 if rows else 0, answer, after))

    def note_lapse(self, environment: str, call: Call, problem: str) -> None:
        """Record that a call got no answer of its own, and why."""
        self._write(_LAPSE, (environment, call_key(call), problem, _packed_call(call), _now()))

    def describe(self, environment: str, basis: str, description: Description) -> None:
        """Keep an environment's tools and links; `basis` is the key of their inputs."""
        packed = _packed(dumped_description(description))
        self._write(_DESCRIBE, (environment, basis, packed))

    def forget_description(self, environment: str) -> None:
        """Drop an environment's tools and links, so that it is explored again; answers stay."""
        self._write("delete from descriptions where environment = ?", (environment,))

    def description(self, environment: str, basis: str = "") -> Description | None:
        """Return an environment's tools and links, or None if missing or of another basis."""
        rows = self._rows(
            "select basis, body from descriptions where environment = ?", (environment,)
        )
        if not rows or (basis and rows[0][0] != basis):
            return None
        return description_from(orjson.loads(zlib.decompress(rows[0][1])))

    def descriptions(self) -> list[tuple[str, str, bytes]]:
        """Return the stored descriptions, each with its environment and its basis."""
        return self._rows("select environment, basis, body from descriptions")

    def take_descriptions(self, other: "ResponseStore") -> None:
        """Replace our descriptions by those of another store."""
        for description in other.descriptions():
            self._write(_DESCRIBE, description)

    def environments(self) -> list[str]:
        """Return the names of the environments that have stored data."""
        rows = self._rows(
            "select environment from responses union select environment from descriptions"
        )
        return [name for (name,) in rows]

    def stored(self, environment: str) -> Iterator[Stored]:
        """Yield every version of every answer, by key and version."""
        for key, version, call, answer, recorded_at, seen_at in self._connection.execute(
            _ALL, (environment,)
        ):
            moments = datetime.fromisoformat(recorded_at), datetime.fromisoformat(seen_at)
            own, *others = _calls(call)
            yield Stored(key, version, own, _answer(answer), *moments, tuple(others))

    def drifts(self, environment: str) -> list[Drift]:
        """Return the calls whose answer changed when asked again, once per change."""
        return [
            Drift(later.call, earlier.answer, later.answer, earlier.recorded_at, later.recorded_at)
            for earlier, later in pairwise(self.stored(environment))
            if earlier.key == later.key
        ]

    def lapses(self, environment: str) -> list[Lapse]:
        """Return the calls that got no answer of their own."""
        rows = self._rows(_LAPSES, (environment,))
        return [
            Lapse(_calls(call)[0], problem, times, datetime.fromisoformat(at))
            for call, problem, times, at in rows
        ]

    def close(self) -> None:
        """Close the file; everything written is saved."""
        self._connection.close()

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple]:  # type: ignore[type-arg]  # columns differ
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(_FILE.damage(self.path, error)) from error

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(
                f"The response store at {self.path} can't be written ({error}); see that the disk"
                " has room."
            ) from error


def _row(
    environment: str, call: Call, version: int, answer: CallResponse, after: Sequence[Call]
) -> tuple[object, ...]:
    body: list[JsonValue] = [answer.response, answer.problem]
    body += [False, answer.error] if answer.error else []
    return (
        environment,
        call_key(call, after),
        version,
        _packed_call(call, after),
        _packed(body),
        _now(),
        _now(),
    )


def _packed_call(call: Call, after: Sequence[Call] = ()) -> bytes:
    return _packed([call.tool, call.arguments, *([one.tool, one.arguments] for one in after)])


def _packed(value: object) -> bytes:
    return zlib.compress(orjson.dumps(value), level=1)


def _calls(body: bytes) -> list[Call]:
    """Return a stored call, followed by the calls made before it."""
    tool, arguments, *after = orjson.loads(zlib.decompress(body))
    return [Call(tool=one, arguments=given) for one, given in ([tool, arguments], *after)]


def _answer(body: bytes) -> CallResponse:
    return CallResponse(*orjson.loads(zlib.decompress(body)))


def _now() -> str:
    return datetime.now(UTC).isoformat()
