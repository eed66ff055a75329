"""What of a provider's batches is under way: kept beside the answers in the ledger's file, so that nothing is paid for twice."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from llm.ledger import open_answers
from warehouse.errors import StoreError

_TABLES = """
create table if not exists batch_files (file text primary key, batch text not null default '');
create table if not exists batch_lines (key blob primary key, file text not null, reply blob);
"""
# What has found its way into the ledger since is there twice.
_SETTLED = "delete from batch_lines where reply is not null and key in (select key from answers)"


class BatchStore:
    """Files of requests that were handed in, the batch that each became, and replies that nobody has fetched yet."""

    def __init__(self, path: Path) -> None:
        """Open the ledger's file at `path`."""
        self._path = path
        self._connection = open_answers(path)
        with self._telling():
            self._connection.executescript(_TABLES)
            self._connection.execute(_SETTLED)

    def find(self, key: bytes) -> tuple[str, bytes | None]:
        """The file in which a request was handed in, "" where it was not, and its reply if that has come."""
        with self._telling():
            row = self._connection.execute("select file, reply from batch_lines where key = ?", (key,)).fetchone()
        return (row[0], row[1]) if row else ("", None)

    def hand_in(self, file: str, keys: Iterable[bytes]) -> None:
        """Note a file before a batch is made of it: whoever comes after a crash looks for the batch first."""
        with self._telling():
            self._connection.execute("begin immediate")
            self._connection.execute("insert into batch_files (file) values (?)", (file,))
            put = (
                "insert into batch_lines (key, file) values (?, ?) on conflict (key) do update set file = excluded.file"
            )
            self._connection.executemany(put, [(key, file) for key in keys])

    def batch_of(self, file: str) -> str:
        """The batch that a file became, "" where that is not known."""
        with self._telling():
            row = self._connection.execute("select batch from batch_files where file = ?", (file,)).fetchone()
        return str(row[0]) if row else ""

    def name(self, file: str, batch: str) -> None:
        """Note which batch a file became."""
        with self._telling():
            self._connection.execute("update batch_files set batch = ? where file = ?", (batch, file))

    def keys_of(self, file: str) -> list[bytes]:
        """The requests of a file that have no reply yet."""
        asked = "select key from batch_lines where file = ? and reply is null"
        with self._telling():
            return [key for (key,) in self._connection.execute(asked, (file,))]

    def end(self, file: str, replies: Mapping[bytes, bytes]) -> None:
        """Keep the replies of a file that is done with; its other requests were never handed in, as far as we know."""
        with self._telling():
            self._connection.execute("begin immediate")
            put = "update batch_lines set reply = ? where key = ? and file = ?"
            self._connection.executemany(put, [(reply, key, file) for key, reply in replies.items()])
            self._connection.execute("delete from batch_lines where file = ? and reply is null", (file,))
            self._connection.execute("delete from batch_files where file = ?", (file,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            with self._connection:
                yield
        except sqlite3.Error as error:
            raise StoreError(f"The ledger at {self._path} could not keep what is known of batches: {error}.") from error
