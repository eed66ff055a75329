"""Cutting a group's records into shards by time: each is to take about as long, whatever a record takes."""

from collections.abc import Generator, Iterable
from itertools import islice
from math import ceil
from pathlib import Path

from flows.shards import write_lines

SHARD_SECONDS = 20.0  # what is lost with a process, and how often progress is seen; the overhead of a shard is far less
_FEWEST = 20  # records that are worth a shard's overhead, where the recipe allows as many
_LEAST = 8  # the last shards have at least so many times less records than the others
_FIRST_ROUNDS = 4  # records for each request that may be under way, in the shards of which no pace is known yet


class Pace:
    """How many records the next shard takes, by how long those before it took."""

    def __init__(self, *, most: int, workers: int, concurrency: int, in_batches: bool = False) -> None:
        """Never more than `most`; so many workers share the records, and their models take `concurrency` requests at once.

        Models that answer `in_batches` take hours for few records as for many, so that time is no measure.
        """
        self._in_batches = in_batches
        self._most = most
        self._workers = workers
        self._first = _FIRST_ROUNDS * concurrency
        self._done = 0
        self._seconds = 0.0

    def note(self, records: int, seconds: float) -> None:
        """A shard of so many records has taken so long, others under way beside it."""
        self._done += records
        self._seconds += seconds

    def next_size(self, left: int) -> int:
        """How many of those left the next shard takes; the last ones are shared out, so that no worker waits long for another."""
        if self._in_batches:
            return min(left, self._most)
        known = self._done and self._seconds
        by_time = int(min(self._most, SHARD_SECONDS * self._done / self._seconds)) if known else self._first
        by_turn = max(ceil(left / self._workers), by_time // _LEAST)
        return min(left, self._most, max(_FEWEST, min(by_time, by_turn)))


class Spool:
    """Lines kept in a file, to be cut off from its beginning; none of them is held in memory meanwhile."""

    def __init__(self, path: Path, lines: Iterable[bytes]) -> None:
        """Write all lines down."""
        self.path = path
        self.left = write_lines(path, lines)
        self._lines = _lines_of(path)

    def cut(self, count: int, target: Path) -> int:
        """Move the next `count` lines to a file of their own; how many there were."""
        taken = write_lines(target, islice(self._lines, count))
        self.left -= taken
        return taken

    def close(self) -> None:
        """Remove the file."""
        self._lines.close()
        self.path.unlink(missing_ok=True)


def _lines_of(path: Path) -> Generator[bytes, None, None]:
    with path.open("rb") as file:
        yield from file
