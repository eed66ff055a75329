"""How the records of a group are cut into shards: how many the next one takes, and the file that
they wait in.
"""

from collections.abc import Iterable
from itertools import islice
from math import ceil
from pathlib import Path

from callwright.flows.shards import write_lines

# what is lost with a process, and how often progress is seen; the overhead of a shard is far less
SHARD_SECONDS = 20.0
FEWEST = 20  # records that are worth a shard's overhead, where the recipe allows as many
_LEAST = 8  # the last shards have at least so many times less records than the others
_LAST = 4  # of what is left, one part in so many is kept for a last shard that lands quickly
_ROUNDS = 4  # records for each request that may be under way, in the last two shards


class ShardSizing:
    """How many records the next shard takes, by how long those before it took."""

    def __init__(
        self,
        *,
        most: int,
        workers: int,
        concurrency: int,
        in_batches: bool = False,
        lands_beside: bool = False,
    ) -> None:
        """Never more than `most`; so many workers share the records, and their models take
        `concurrency` requests at once.

        Models that answer `in_batches` take hours for few records as for many, so that time is no
        measure. Where one shard `lands_beside` the requests of the next, the last one is small:
        nothing is asked while it lands.
        """
        self._in_batches = in_batches
        self._lands_beside = lands_beside
        self._most = most
        self._workers = workers
        self._first = (
            concurrency  # while no pace is known: so small that what comes of it is soon seen
        )
        self._smallest_split = 2 * _ROUNDS * concurrency
        self._done = 0
        self._seconds = 0.0

    def note(self, records: int, seconds: float) -> None:
        """A shard of so many records has taken so long, others under way beside it."""
        self._done += records
        self._seconds += seconds

    def next_size(self, left: int) -> int:
        """How many of those left the next shard takes; the last ones are shared out, so that no
        worker waits long for another.
        """
        if self._in_batches:
            return min(left, self._most)
        known = self._done and self._seconds
        by_time = (
            int(min(self._most, SHARD_SECONDS * self._done / self._seconds))
            if known
            else self._first
        )
        by_turn = max(ceil(left / self._workers), by_time // _LEAST)
        size = min(left, self._most, max(FEWEST if known else 1, min(by_time, by_turn)))
        is_split = self._lands_beside and size == left > self._smallest_split
        return size - size // _LAST if is_split else size


PLANNED_AT_ONCE = 8  # records, a millisecond of work: for so long no answer is looked at


class Spool:
    """Lines kept in a file, to be cut off from its beginning; none of them is held in memory
    meanwhile.
    """

    def __init__(self, path: Path, lines: Iterable[bytes]) -> None:
        """The lines are written down as they are taken in."""
        self.path = path
        self.left = 0  # taken in and not cut off
        self.is_whole = False
        self._lines = iter(lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._written, self._file = path.open("wb"), path.open("rb")

    def take_in(self, count: int | None = None) -> None:
        """Write down the next `count` lines, all that come where it is None."""
        before = self.left
        for line in islice(self._lines, count):
            self._written.write(line)
            self.left += 1
        self._written.flush()
        self.is_whole = count is None or self.left - before < count

    def cut(self, count: int, target: Path) -> int:
        """Move the next `count` lines to a file of their own; how many there were."""
        taken = write_lines(target, islice(self._file, count))
        self.left -= taken
        return taken

    def close(self) -> None:
        """Remove the file; lines that were not taken in are read to their end, so that they hold
        nothing open.
        """
        for _ in self._lines:
            pass
        self._written.close()
        self._file.close()
        self.path.unlink(missing_ok=True)
