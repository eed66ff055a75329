"""Carrying a group's records through its stages: cut into shards, worked by a carrier, landed.

Shards are cut by time, whoever is the carrier works them, and one writer lands what comes back. The
chunks of an evaluation's items are carried in the same way.
"""

import asyncio
import fcntl
import gc
import os
import shutil
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count, islice
from math import ceil
from multiprocessing import (
    active_children,
    forkserver,
    get_context,
    parent_process,
    resource_tracker,
)
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from callwright.flows.progress import Progress, Work, tell_bugs, watch_traffic
from callwright.flows.recipe import Recipe
from callwright.flows.run.work import (
    AHEAD,
    Shard,
    ShardResult,
    SharedChats,
    StagePart,
    concurrency_of,
    distinct_models,
    gravest,
    task_group,
    work_alone,
    work_shard,
    write_lines,
)
from callwright.flows.settings import Settings
from callwright.llm.ledger import known_keys
from callwright.llm.limits import Traffic
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError, StoreError, TransientError
from callwright.warehouse.paid_notes import land_paid, paid_folder
from callwright.warehouse.publish import build_under_way, publish, publish_when_due
from callwright.warehouse.records import Tool
from callwright.warehouse.store import Warehouse

# Shards of one process under way at once: while one runs out of records, the next one begins.
AT_ONCE = 2
_UNLANDED = 3  # shards for each place that are under way or wait for the writer; then none begins
_YOUNG = 10_000  # objects made before the collector looks; Python's own 700 are a few records
PLANNED_AT_ONCE = 8  # records, a millisecond of work: for so long no answer is looked at
_OPENING, _REST = 0.05, 0.001  # seconds
# What is lost with a process, and how often progress is seen; the overhead of a shard is far less.
SHARD_SECONDS = 20.0
FEWEST = 20  # records that are worth a shard's overhead, where the recipe allows as many
_LEAST = 8  # the last shards have at least so many times less records than the others
_LAST = 4  # of what is left, one part in so many is kept for a last shard that lands quickly
_ROUNDS = 4  # records for each request that may be under way, in the last two shards


class GroupRun(NamedTuple):
    """A build, or a toolset, whose groups this process carries since it `began`."""

    build: str
    recipe: Recipe
    settings: Settings
    warehouse: Warehouse
    tools: tuple[Tool, ...]
    toolbox: Path
    progress: Progress
    began: datetime


class Carrier(ABC):
    """Works shards: in this process, in a pool of processes, on Dask, or as tasks of Prefect's.

    It takes `slots` shards at once, in so many `processes`, among which the last records are shared
    out. `traffic` counts their requests where they are sent from this process.
    """

    slots: int = 1
    processes: int = 1
    traffic: Traffic | None = None

    async def prepare(self, run: GroupRun) -> None:  # noqa: B027 - most have nothing to make ready
        """Make ready for a group of a run."""

    @abstractmethod
    async def work(self, shard: Shard) -> ShardResult:
        """Work a shard. Raises TransientError where what carries it is lost."""


async def run_group(
    run: GroupRun,
    group: str,
    lines: Iterable[bytes],
    carrier: Carrier,
    *,
    only: Sequence[str] = (),
    then: str = "",
) -> None:
    """Carry records, lines of `record_line`, through a group, and what it makes through `then`.

    With `only` they go through these stages of the group alone.
    Each shard lands as it comes back. Raises, after everything that was done has landed,
    ConfigurationError, BudgetError or TransientError where a model refused, the budget was spent or
    a provider was away: the next build goes on from there.
    """
    recipe, part = run.recipe, StagePart(group, tuple(only), then)
    with _opened_spool(run, group, lines) as spool:
        await carrier.prepare(run)
        # Where this process asks models that answer at once, some records are planned ahead, as
        # many as it has under way at the same time: while these are asked, the others are planned.
        asks_here = carrier.traffic is not None and not _batched(recipe)
        spool.take_in(AHEAD * concurrency_of(recipe) if asks_here else None)
        pieces, spent = _shards_of(run, part, spool, carrier), money_spent(run)
        async with pieces.under_way():
            async for number, size in pieces.cut():
                target = spool.path.with_name(f"{group}-{number:05}")
                shard = Shard(
                    build=run.build,
                    part=part,
                    number=number,
                    recipe=recipe,
                    records=spool.cut(size, _source_of(target)),
                    source=_source_of(target),
                    target=target,
                    toolbox=run.toolbox,
                    ledger=run.settings.ledger,
                    spent=spent + pieces.cost,
                    of=number + 1 + ceil(spool.left / size),
                )
                pieces.begin(carrier.work(shard))


@contextmanager
def _opened_spool(run: GroupRun, group: str, lines: Iterable[bytes]) -> Iterator["Spool"]:
    """Yield a spool for a group's records in the build's folder, which is empty before and after.

    Raises TransientError where another process works at the build, whose shards it would clear
    away.
    """
    folder = run.settings.home / "shards" / run.build
    with run.toolbox.with_suffix(".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TransientError(
                f"Another process is running the build {run.build} of the recipe"
                f" {run.recipe.name!r}. Wait for it to end. Its work is kept, and the next build"
                " continues from there."
            ) from error
        with build_under_way(run.settings.home):
            _clear(run, folder)  # what a build that was killed has left
            try:
                with closing(Spool(folder / f"{group}.jsonl", lines)) as spool, _seldom_collected():
                    yield spool
            finally:
                _clear(run, folder)


def _clear(run: GroupRun, folder: Path) -> None:
    """Remove the shards' files, after storing the paid calls in them."""
    if folder.exists():
        if torn := land_paid(folder, run.warehouse, partial(known_keys, run.settings.ledger)):
            run.progress.say(
                f"The records of {count_of(torn, 'call')} are incomplete, because the disk was full"
                " or the machine went down. Their cost is unknown."
            )
        shutil.rmtree(folder)


def _shards_of(run: GroupRun, part: StagePart, spool: "Spool", carrier: Carrier) -> "Pieces":
    """Return the shards of a group, none of them cut yet."""
    recipe, traffic, publishes = run.recipe, carrier.traffic, bool(run.settings.publish_every)
    concurrency, in_batches = concurrency_of(recipe), bool(_batched(recipe))

    def land(results: Sequence[ShardResult]) -> None:
        nonlocal publishes
        put_results(run.warehouse, results)
        publishes = publishes and publish_or_say(run, only_when_due=True)

    return Pieces(
        work=Work(part.group, spool.left, sum(bool(one.role) for one in part.stages), concurrency),
        sizing=ShardSizing(
            most=recipe.shard_size,
            workers=carrier.processes,
            concurrency=concurrency,
            in_batches=in_batches,
            lands_beside=traffic is not None and not in_batches,
        ),
        progress=run.progress,
        traffic=traffic,
        slots=carrier.slots,
        left=lambda: spool.left,
        complete=None if spool.is_whole else partial(spool.take_in_the_rest, traffic),
        land=land,
        undone=(
            f"records of the group {part.group!r} are not done. Finished work is kept, and the next"
            " build continues from there."
        ),
    )


def _batched(recipe: Recipe) -> list[str]:
    """Return the names of the recipe's models that answer in batches."""
    return [model.name for model in distinct_models(recipe) if model.path == "batch"]


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Keep the collector from looking again and again through what stays as long as the process.

    That took a sixth of the time; circles among what is made meanwhile are still found.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(_YOUNG, usual[0]) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@dataclass(kw_only=True)
class ShardSizing:
    """How many records the next shard takes, at most `most`, by how long those before it took.

    So many `workers` share the records, and models take `concurrency` requests at once. Those that
    answer `in_batches` take hours for few records as for many: time is no measure. Where one shard
    `lands_beside` the requests of the next, the last is small: nothing is asked meanwhile.
    """

    most: int
    workers: int
    concurrency: int
    in_batches: bool = False
    lands_beside: bool = False
    _done: int = 0
    _seconds: float = 0.0

    def note(self, records: int, seconds: float) -> None:
        """Note that so many records took so long, others under way beside them."""
        self._done += records
        self._seconds += seconds

    def next_size(self, left: int) -> int:
        """Return how many of those left the next shard takes.

        The last ones are shared out, so that no worker waits long for another.
        """
        if self.in_batches:
            return min(left, self.most)
        # Until a pace is known, as many as the models take at once: something is soon seen.
        by_time, fewest = self.concurrency, 1
        if self._done and self._seconds:
            by_time = int(min(self.most, SHARD_SECONDS * self._done / self._seconds))
            fewest = FEWEST
        by_turn = max(ceil(left / self.workers), by_time // _LEAST)
        size = min(left, self.most, max(fewest, min(by_time, by_turn)))
        is_split = self.lands_beside and size == left > 2 * _ROUNDS * self.concurrency
        return size - size // _LAST if is_split else size


class Spool:
    """Lines kept in a file and cut off from its beginning; none is held in memory meanwhile."""

    def __init__(self, path: Path, lines: Iterable[bytes]) -> None:
        """Write the lines down as they are taken in."""
        self.path = path
        self.left = 0  # taken in and not cut off
        self.is_whole = False
        self._lines = iter(lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._written, self._file = path.open("wb"), path.open("rb")

    def take_in(self, count: int | None = None) -> None:
        """Write the next `count` lines; all of them if it is None."""
        before = self.left
        for line in islice(self._lines, count):
            self._written.write(line)
            self.left += 1
        self._written.flush()
        self.is_whole = count is None or self.left - before < count

    async def take_in_the_rest(self, traffic: Traffic | None) -> None:
        """Write the remaining lines, and let what is under way go first; it counts in `traffic`."""
        began = time.monotonic()
        while not self.is_whole:
            # Until something is asked, a thread opens the ledger: of its many statements each has
            # to wait for the interpreter, where that is never at rest.
            is_soon = time.monotonic() - began < _OPENING
            is_opening = traffic is not None and not traffic.sent and is_soon
            await asyncio.sleep(_REST if is_opening else 0)
            self.take_in(PLANNED_AT_ONCE)

    def cut(self, count: int, target: Path) -> int:
        """Move the next `count` lines to a file of their own; return how many there were."""
        taken = write_lines(target, islice(self._file, count))
        self.left -= taken
        return taken

    def close(self) -> None:
        """Remove the file; lines not taken in are read to their end, and hold nothing open then."""
        for _ in self._lines:
            pass
        self._written.close()
        self._file.close()
        self.path.unlink(missing_ok=True)


@dataclass(kw_only=True)
class Pieces:
    """Records carried piece by piece: shards of a group, or chunks of an evaluation's items.

    Pieces are cut as places get free, and `land` in turns, all that wait in one transaction. Where
    records still come, the first piece is begun until they are `complete`. Nothing lands before
    they are all there: whoever plans them sees the warehouse as it was.
    """

    work: Work
    sizing: ShardSizing
    progress: Progress
    traffic: Traffic | None  # counts the requests of all
    left: Callable[[], int]  # records that are not cut off yet
    undone: str  # what the error says of those left undone, after their number
    complete: Callable[[], Awaitable[None]] | None = None  # where not all are there
    land: Callable[[Sequence[ShardResult]], object] | None = None  # where pieces keep nothing
    slots: int = AT_ONCE  # pieces at once
    cost: float = 0.0  # of what came back, landed or not

    def __post_init__(self) -> None:
        """Start without any piece."""
        self._total = 0
        self._are_all_there = asyncio.Event()
        self._free = asyncio.Semaphore(self.slots)
        self._room = asyncio.Semaphore(self.slots * _UNLANDED)
        self._writer = asyncio.Lock()
        self._back: list[ShardResult] = []  # worked, not landed yet
        self._results: list[ShardResult] = []
        self._is_over = False  # the other pieces would fare no better

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Begin pieces inside; all of them have landed at the end.

        Raises the gravest error that left records undone, after everything done has landed.
        """
        async with AsyncExitStack() as self._watched, task_group() as self._tasks:
            yield
        results = self._results
        bug = next((result.bug for result in results if result.bugs), "")
        tell_bugs(self.progress, self.work.title, sum(one.bugs for one in results), bug)
        error = gravest(result.error for result in results if result.error)
        if error is not None:
            problem = str(error) if str(error).endswith((".", "!", "?")) else f"{error}."
            left = self._total - sum(result.done for result in results)
            raise type(error)(f"{problem} {left} {self.undone}")

    async def cut(self) -> AsyncIterator[tuple[int, int]]:
        """Yield the number of each piece, from 0, and its size, once there is a place for it."""
        if not self.left():
            return
        for number in count():
            if (number > 0 or self.complete is None) and not self._are_all_there.is_set():
                await self._know_all()
            await self._room.acquire()
            await self._free.acquire()
            if self._is_over or not self.left():
                return
            size = self.sizing.next_size(self.left())
            if not self._are_all_there.is_set():
                self._total += size  # the others are counted when they are all there
            yield number, size

    async def _know_all(self) -> None:
        """Wait until all records have come, and report how many there are."""
        if self.complete is not None:
            await self.complete()
        self._total += self.left()
        work = self.work._replace(records=self._total)
        self.progress.begin(work.title, self._total)
        watching = watch_traffic(self.traffic, self.progress, work)
        await self._watched.enter_async_context(watching)
        self._are_all_there.set()

    def begin(self, working: Coroutine[Any, Any, ShardResult]) -> None:
        """Have a piece worked, and land what comes back."""
        self._tasks.create_task(self._carry(working))

    async def _carry(self, working: Coroutine[Any, Any, ShardResult]) -> None:
        began = time.monotonic()
        result = await working
        self.cost += result.cost
        self.sizing.note(result.done, time.monotonic() - began)
        self._is_over |= result.is_fatal or bool(result.error and not result.done)
        self._free.release()
        self._back.append(result)
        await self._are_all_there.wait()
        async with self._writer:
            landing, self._back = self._back, []
            if landing:
                if self.land is not None:
                    await _ended_in_a_thread(partial(self.land, landing))
                self.progress.advance(sum(one.done for one in landing))
                self._results += landing
        self._room.release()


async def _ended_in_a_thread(work: Callable[[], object]) -> None:
    """Do some work in a thread; it has ended also where whoever waits for it is cancelled."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        task.exception()  # looked at: the cancellation is what counts
        raise


def put_results(warehouse: Warehouse, results: Sequence[ShardResult]) -> None:
    """Keep what came of shards with their calls, and remove their files and sources."""
    targets = [result.target for result in results]
    folders = [folder for target in targets for folder in (target, paid_folder(target))]
    warehouse.put_files(*folders)
    for landed in folders:
        shutil.rmtree(landed, ignore_errors=True)
    for target in targets:
        _source_of(target).unlink(missing_ok=True)


def _source_of(target: Path) -> Path:
    return target.with_suffix(".jsonl")


def publish_or_say(run: GroupRun, *, only_when_due: bool = False) -> bool:
    """Publish, at any time or `only_when_due`; where that fails, say so and return False."""
    warehouse, folder = run.warehouse, run.settings.published
    try:
        if only_when_due:
            publish_when_due(warehouse, folder, run.settings.publish_every, run.began.timestamp())
        else:
            publish(warehouse, folder)
    except StoreError as error:
        run.progress.say(
            f"{error} The build itself is not affected. Try again with `callwright publish`."
        )
        return False
    return True


def money_spent(run: GroupRun) -> float:
    """Return what the build has spent of its budget, in US dollars; 0 where it has no budget."""
    if run.recipe.budget is None:
        return 0.0
    rows = run.warehouse.rows(
        "select coalesce(sum(cost), 0) as cost from llm_calls where build = ?", [run.build]
    )
    return float(rows[0]["cost"])


@contextmanager
def open_carrier(recipe: Recipe, settings: Settings, progress: Progress) -> Iterator[Carrier]:
    """Open whoever carries the shards of a recipe, as the setting CALLWRIGHT_WORKERS says."""
    batched = _batched(recipe)
    if settings.workplace != "local" and not batched:
        from callwright.flows.run.dask_cluster import open_cluster

        with open_cluster(settings, progress) as cluster:
            yield cluster
        return
    if settings.workplace != "local":
        progress.say(
            f"{batched[0]} answers in batches, so this machine does all the work instead of Dask."
        )
    with open_local_carrier(recipe, settings) as carrier:
        yield carrier


@contextmanager
def open_local_carrier(recipe: Recipe, settings: Settings) -> Iterator[Carrier]:
    """Open processes for models that compute here; models across a network are asked from this one.

    A network model's limits hold for one process, and its time is spent waiting; an embedded one
    needs the cores.
    """
    if not all(model.name.startswith("template/") for model in recipe.models.named.values()):
        yield InProcess(AT_ONCE, SharedChats(Traffic()))
    elif settings.workers == 1:
        yield InProcess()
    else:
        _require_guard()
        rouge = recipe.consistency == "hammerbench"
        pool = _Pool(settings.workers, [*_PRELOADED, *([_ROUGE] if rouge else [])])
        with pool.executor:
            yield pool


class InProcess(Carrier):
    """Works shards in this process."""

    def __init__(self, slots: int = 1, shared: SharedChats | None = None) -> None:
        """Take `slots` shards at once; their models are `shared`, or opened for each shard."""
        self.slots, self._shared = slots, shared
        self.traffic = shared.traffic if shared else None

    async def work(self, shard: Shard) -> ShardResult:
        """Work a shard."""
        return await work_shard(shard, self._shared)


def _require_guard() -> None:
    """Raise ConfigurationError where worker processes would run this script, and so begin again."""
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None or not Path(script).is_file() or b"__name__" in Path(script).read_bytes():
        return
    raise ConfigurationError(
        f"Worker processes run the script {script!r} again. Put the call that starts the build "
        'under `if __name__ == "__main__":`, or use workers=1.'
    )


_PRELOADED = (
    "callwright.flows.run.work",
    "callwright.llm.template.model",
    "babel.dates",
    "unicode_rbnf",
)
# 85 MB, where readings are held against each other (HammerBench 4.2.2).
_ROUGE = "rouge_score.rouge_scorer"


class _Pool(Carrier):
    """Processes that work shards; where one is called off, all are, since the whole build is."""

    def __init__(self, slots: int, preloaded: Sequence[str]) -> None:
        # Workers are forked from a server that has imported what they need: they start at once and
        # share its memory. Not duckling: its runtime does not survive a fork.
        context = get_context("forkserver")
        context.set_forkserver_preload([*preloaded])
        self.slots = self.processes = slots
        self._others = active_children()
        self._has_begun = False
        self.executor = ProcessPoolExecutor(slots, mp_context=context, initializer=_settle_in)

    async def work(self, shard: Shard) -> ShardResult:
        """Work a shard in one of the processes.

        Starting them takes longer than the few records of a group that makes one small shard: these
        are worked here. Raises TransientError where a process was ended from outside.
        """
        if not self._has_begun and shard.of == 1 and shard.records <= FEWEST:
            return await work_shard(shard)
        self._has_begun = True
        _start_fork_server()
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self.executor, work_alone, shard)
        except BrokenProcessPool as error:
            raise TransientError(
                "A worker process was killed, perhaps because memory ran out. Run the build again."
                " If it happens again, use fewer workers (CALLWRIGHT_WORKERS=1). Finished work is"
                " kept."
            ) from error
        except asyncio.CancelledError:
            # Ctrl-C, or another shard failed: nobody waits for these any more, and whoever clears
            # their files away must find nobody who writes them.
            ours = [process for process in active_children() if process not in self._others]
            for process in ours:
                process.terminate()
            for process in ours:
                process.join()
            raise


def _start_fork_server() -> None:
    """Start the server that workers are forked from, if it does not run; Ctrl-C never reaches it.

    It ignores Ctrl-C only once it has imported all, and a terminal sends that to the whole group:
    earlier it would end, and its parent with an EOFError.
    """
    resource_tracker.ensure_running()  # which lets Ctrl-C through again once it has started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle_in() -> None:
    """Leave Ctrl-C to the process that this worker belongs to, and end when that one ends."""
    # Else the collector would write into all that was imported before the fork, and so end its
    # being shared.
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
