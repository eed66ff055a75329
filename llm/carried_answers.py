"""Answers carried from one ledger to another, as lines: those of a worker elsewhere come home, those known at home go along."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from llm.ledger import KEY_BYTES, open_answers
from warehouse.errors import StoreError

Item = TypeVar("Item")
_AT_ONCE = 500
_DIGITS = 2 * KEY_BYTES


def answers_of(ledger: Path, keys: Iterable[str]) -> Iterator[bytes]:
    """The answers under these keys, as lines; a key without one has no line."""
    with closing(open_answers(ledger)) as connection:
        for some in _some(dict.fromkeys(keys)):
            asked = f"select key, reply from answers where key in ({', '.join('?' * len(some))})"  # noqa: S608 - marks only
            for key, reply in connection.execute(asked, [bytes.fromhex(key) for key in some]).fetchall():
                yield _line(key, reply)


def answers_between(ledger: Path, first: int, last: int) -> Iterator[bytes]:
    """The answers with these numbers, as lines; a ledger numbers them as they come."""
    with closing(open_answers(ledger)) as connection:
        asked = "select key, reply from answers where rowid between ? and ?"
        for key, reply in connection.execute(asked, (first, last)):
            yield _line(key, reply)


def last_number(ledger: Path) -> int:
    """The number of the newest answer, 0 where there is none."""
    with closing(open_answers(ledger)) as connection:
        [(newest,)] = connection.execute("select coalesce(max(rowid), 0) from answers").fetchall()
    return int(newest)


def keep_answers(ledger: Path, lines: Iterable[bytes]) -> None:
    """Keep carried answers; the first answer under a key stays. Raises StoreError."""
    with closing(open_answers(ledger)) as connection:
        for some in _some(lines):
            pairs = [(bytes.fromhex(line[:_DIGITS].decode()), line[_DIGITS + 1 :].rstrip()) for line in some]
            places = ", ".join(["(?, ?)"] * len(pairs))
            insert = f"insert into answers (key, reply) values {places} on conflict (key) do nothing"  # noqa: S608 - marks only
            try:
                connection.execute(insert, list(chain.from_iterable(pairs)))
            except sqlite3.Error as error:
                raise StoreError(
                    f"The ledger at {ledger} could not keep what a worker was answered: {error}."
                ) from error


def _line(key: bytes, reply: bytes) -> bytes:
    return b"%s %s\n" % (key.hex().encode(), reply)  # a reply is JSON of one line


def _some(found: Iterable[Item]) -> Iterator[list[Item]]:
    left = iter(found)
    while some := list(islice(left, _AT_ONCE)):
        yield some
