"""The runner of builds and evaluations: many records through stages or past a model, in shards or
in chunks.

A build's group is cut into shards by time, workers carry them, and one writer lands what comes
back. An evaluation's items are cut into chunks in the same way; they stay in this process.
"""

import asyncio
import fcntl
import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AsyncExitStack, closing, contextmanager
from datetime import datetime
from functools import partial
from itertools import count
from math import ceil
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Generic, NamedTuple, Protocol, TypeVar

from callwright.flows.chats import AHEAD, SharedChats, concurrency_of, distinct_models, the_error_of
from callwright.flows.cutting import FEWEST, PLANNED_AT_ONCE, ShardSizing, Spool
from callwright.flows.progress import Progress, Work, tell_bugs, watch_traffic
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings
from callwright.flows.shards import Shard, ShardResult, carry_out, run_shard
from callwright.flows.stages import stages_of
from callwright.llm.ledger import known_keys
from callwright.llm.limits import Traffic
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError, StoreError, TransientError
from callwright.warehouse.paid_notes import land_paid, paid_folder
from callwright.warehouse.publish import build_under_way, publish, publish_when_due
from callwright.warehouse.records import Tool
from callwright.warehouse.store import Warehouse

Piece = TypeVar("Piece")
# shards for each worker that are under way or wait for the one writer; then no more are begun
_UNLANDED = 3


class Workers(NamedTuple):
    """Whoever works shards, and how many at once; `prepare` is awaited before each group.

    `in_one` says that the shards under way share what carries them: then the last ones need not be
    shared out. `traffic` counts their requests, where they are sent from this process.
    """

    work: Callable[[Shard], Awaitable[ShardResult]]
    slots: int
    prepare: "Callable[[GroupRun], Awaitable[None]] | None" = None
    in_one: bool = False
    traffic: Traffic | None = None


class GroupRun(NamedTuple):
    """What a run of a group needs to know besides its records; it is of a build that this
    process `began` then.
    """

    build: str
    recipe: Recipe
    settings: Settings
    warehouse: Warehouse
    tools: tuple[Tool, ...]
    toolbox: Path
    progress: Progress
    began: datetime


async def run_group(
    run: GroupRun, group: str, lines: Iterable[bytes], workers: Workers, *, then: str = ""
) -> None:
    """Carry records, as the lines of `record_line`, through a group of stages, and what it makes
    through the group `then`.

    Each shard lands as it comes back. Raises, after everything that was done has landed,
    ConfigurationError, BudgetError or TransientError where a model refused, the budget was spent or
    a provider was away: the next build goes on from there.
    """
    folder = run.settings.home / "shards" / run.build
    with _hold(run), build_under_way(run.settings.home):
        _clear(run, folder)  # what a build that was killed has left
        if workers.prepare is not None:
            await workers.prepare(run)
        try:
            with (
                closing(Spool(folder / f"{group}.jsonl", lines)) as spool,
                _rare_search_for_garbage(),
            ):
                spool.take_in(_first_to_take_in(run.recipe, workers))
                shards = _Shards(run, group, then, spool, workers)
                await carry_all(shards, shards.course())
        finally:
            _clear(run, folder)


def _first_to_take_in(recipe: Recipe, workers: Workers) -> int | None:
    """How many records are planned before any is worked, None for all.

    Where this process asks models that answer at once it is what it has under way at the same time:
    while these are asked, the others are planned.
    """
    if workers.traffic is None or any(model.path == "batch" for model in distinct_models(recipe)):
        return None
    return AHEAD * concurrency_of(recipe)


# objects that are made before the collector looks; Python's own 700 are those of a few records
_YOUNG = 10_000


@contextmanager
def _rare_search_for_garbage() -> Iterator[None]:
    """Keep the collector from looking again and again through what stays as long as the process
    does.

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


class Course(NamedTuple):
    """How pieces of work are carried: `slots` at once, as large as `pace` says; `undone` tells
    of what is left in the end.
    """

    work: Work
    slots: int
    pace: "ShardSizing"
    progress: Progress
    traffic: Traffic | None
    undone: str


class Pieces(Protocol[Piece]):
    """Work that is cut into pieces: shards of a group, or chunks of an evaluation's items."""

    @property
    def left(self) -> int:
        """How many records are there that are not cut off yet."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether no more records come."""
        ...

    async def complete(self) -> None:
        """Wait for the records that still come."""
        ...

    def cut(self, number: int, size: int) -> Piece:
        """The next piece, of so many records; pieces are counted from 0."""
        ...

    async def work(self, piece: Piece) -> ShardResult:
        """What came of a piece."""
        ...

    async def land(self, results: Sequence[ShardResult]) -> None:
        """Keep what came of pieces."""
        ...


async def carry_all(pieces: Pieces[Piece], course: Course) -> None:
    """Carry all pieces.

    Raises the gravest error that left records undone, after everything that was done has landed.
    """
    if not pieces.left:
        return
    carrying = _Carrying(pieces, course)
    results = await carrying.all()
    broken = [result for result in results if result.bugs]
    tell_bugs(
        course.progress,
        course.work.title,
        sum(one.bugs for one in broken),
        broken[0].bug if broken else "",
    )
    stopped = sorted(
        (result for result in results if result.error), key=lambda result: not result.is_fatal
    )
    if stopped:
        gravest, left = stopped[0], carrying.total - sum(result.done for result in results)
        problem = gravest.error if gravest.error.endswith((".", "!", "?")) else f"{gravest.error}."
        raise gravest.raises(f"{problem} {left} {course.undone}")


class _Carrying(Generic[Piece]):
    """Pieces under way: they are cut as places get free, and land in turns, all that wait in one
    transaction.

    Where records still come, the first piece is begun meanwhile. Nothing lands before they are all
    there: whoever plans them sees the warehouse as it was.
    """

    def __init__(self, pieces: Pieces[Piece], course: Course) -> None:
        self._pieces, self._course = pieces, course
        self.total = 0
        self._are_all_there = asyncio.Event()
        self._free = asyncio.Semaphore(course.slots)
        self._room = asyncio.Semaphore(course.slots * _UNLANDED)
        self._writer = asyncio.Lock()
        self._back: list[ShardResult] = []  # worked, not landed yet
        self._results: list[ShardResult] = []
        self._is_over = False  # the other pieces would fare no better

    async def all(self) -> list[ShardResult]:
        """What came of the pieces."""
        pieces = self._pieces
        try:
            async with AsyncExitStack() as watched, asyncio.TaskGroup() as tasks:
                for number in count():
                    if number > 0 or pieces.is_whole:
                        await self._know_all(watched)
                    await self._room.acquire()
                    await self._free.acquire()
                    if self._is_over or not pieces.left:
                        break
                    tasks.create_task(self._carry(self._next_piece(number)))
        except ExceptionGroup as errors:
            error = the_error_of(errors)
            if error is None:
                raise
            raise error from errors
        return self._results

    def _next_piece(self, number: int) -> Piece:
        size = self._course.pace.next_size(self._pieces.left)
        if not self._are_all_there.is_set():
            self.total += size  # the others are counted when they are all there
        return self._pieces.cut(number, size)

    async def _know_all(self, watched: AsyncExitStack) -> None:
        """Wait until all records are there, and tell how many there are."""
        if self._are_all_there.is_set():
            return
        await self._pieces.complete()
        self.total += self._pieces.left
        course, work = self._course, self._course.work._replace(records=self.total)
        course.progress.begin(work.title, self.total)
        await watched.enter_async_context(watch_traffic(course.traffic, course.progress, work))
        self._are_all_there.set()

    async def _carry(self, piece: Piece) -> None:
        began = time.monotonic()
        result = await self._pieces.work(piece)
        self._course.pace.note(result.done, time.monotonic() - began)
        self._is_over |= result.is_fatal or bool(result.error and not result.done)
        self._free.release()
        self._back.append(result)
        await self._are_all_there.wait()
        async with self._writer:
            landing, self._back = self._back, []
            if landing:
                await self._pieces.land(landing)
                self._course.progress.advance(sum(one.done for one in landing))
                self._results += landing
        self._room.release()


class _Shards:
    """The shards of a group."""

    def __init__(
        self, run: GroupRun, group: str, then: str, spool: "Spool", workers: Workers
    ) -> None:
        self._run, self._group, self._then = run, group, then
        self._spool, self._workers = spool, workers
        self._spent = money_spent(run)
        self._publishes = bool(run.settings.publish_every)

    def course(self) -> Course:
        recipe, workers = self._run.recipe, self._workers
        stages = stages_of(self._group) + (stages_of(self._then) if self._then else ())
        concurrency = concurrency_of(recipe)
        work = Work(
            self._group, self._spool.left, sum(1 for stage in stages if stage.role), concurrency
        )
        in_batches = any(model.path == "batch" for model in distinct_models(recipe))
        crew = 1 if workers.in_one else workers.slots
        pace = ShardSizing(
            most=recipe.shard_size,
            workers=crew,
            concurrency=concurrency,
            in_batches=in_batches,
            lands_beside=workers.traffic is not None and not in_batches,
        )
        undone = (
            f"records of the group {self._group!r} are not done. Finished work is kept, and "
            "the next build continues from there."
        )
        return Course(work, workers.slots, pace, self._run.progress, workers.traffic, undone)

    @property
    def left(self) -> int:
        return self._spool.left

    @property
    def is_whole(self) -> bool:
        return self._spool.is_whole

    async def complete(self) -> None:
        began, traffic = time.monotonic(), self._workers.traffic
        while not self._spool.is_whole:
            # What is under way comes first. Until something is asked, a thread opens the ledger: of
            # its many statements each has to wait for the interpreter, where that is never at rest.
            is_opening = (
                traffic is not None and not traffic.sent and time.monotonic() - began < _OPENING
            )
            await asyncio.sleep(_REST if is_opening else 0)
            self._spool.take_in(PLANNED_AT_ONCE)

    def cut(self, number: int, size: int) -> Shard:
        run, target = self._run, self._spool.path.parent / f"{self._group}-{number:05}"
        source = target.with_name(f"{target.name}.jsonl")  # a part of a group has a dot in its name
        records = self._spool.cut(size, source)
        return Shard(
            build=run.build,
            group=self._group,
            number=number,
            recipe=run.recipe,
            records=records,
            source=source,
            target=target,
            toolbox=run.toolbox,
            ledger=run.settings.ledger,
            spent=self._spent,
            of=number + 1 + ceil(self._spool.left / size),
            then=self._then,
        )

    async def work(self, shard: Shard) -> ShardResult:
        result = await self._workers.work(shard)
        self._spent += (
            result.cost
        )  # what other shards have spent by now counts against the budget of the next
        shard.source.unlink(missing_ok=True)
        return result

    async def land(self, results: Sequence[ShardResult]) -> None:
        """Keep what came of shards in a thread; it has ended also where whoever waits for it is
        cancelled.
        """
        task = asyncio.create_task(asyncio.to_thread(self._put, results))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            task.exception()  # looked at: the cancellation is what counts
            raise

    def _put(self, results: Sequence[ShardResult]) -> None:
        put_results(self._run.warehouse, results)
        self._publishes = self._publishes and publish_or_say(self._run, only_when_due=True)


def put_results(warehouse: Warehouse, results: Sequence[ShardResult]) -> None:
    """Keep what came of shards with their calls, and remove their files."""
    folders = [
        folder for result in results for folder in (result.target, paid_folder(result.target))
    ]
    warehouse.put_files(*folders)
    for landed in folders:
        shutil.rmtree(landed, ignore_errors=True)


def publish_or_say(run: GroupRun, *, only_when_due: bool = False) -> bool:
    """Publish, at any time or `only_when_due`; a build that can't says so, goes on, and is told
    False.
    """
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


@contextmanager
def _hold(run: GroupRun) -> Iterator[None]:
    """Keep other processes from the same build: they would clear away each other's shards.

    Raises TransientError.
    """
    path = run.toolbox.with_suffix(".lock")
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TransientError(
                f"Another process is running the build {run.build} of the recipe"
                f" {run.recipe.name!r}. Wait for it to end. Its work is kept, and the next build"
                " continues from there."
            ) from error
        yield


def _clear(run: GroupRun, folder: Path) -> None:
    """Remove the shards' files, but not before what was paid for in them is written down."""
    if folder.exists():
        if torn := land_paid(folder, run.warehouse, partial(known_keys, run.settings.ledger)):
            run.progress.say(
                f"The records of {count_of(torn, 'call')} are incomplete, because the disk was full"
                " or the machine went down. Their cost is unknown."
            )
        shutil.rmtree(folder)


def money_spent(run: GroupRun) -> float:
    """What of its budget the build has spent by now, in US dollars; where it has none, nobody
    counts.
    """
    if run.recipe.budget is None:
        return 0.0
    rows = run.warehouse.rows(
        "select coalesce(sum(cost), 0) as cost from llm_calls where build = ?", [run.build]
    )
    return float(rows[0]["cost"])


_OPENING, _REST = 0.05, 0.001  # seconds
# shards of one process under way at the same time: while one runs out of records, the next one
# begins
AT_ONCE = 2


@contextmanager
def local_workers(recipe: Recipe, settings: Settings) -> Iterator[Workers]:
    """Workers on this machine: processes for models that compute here, this one for models across a
    network.

    A network model's limits hold for one process, and its time is spent waiting; an embedded one
    needs the cores.
    """
    if not all(model.name.startswith("template/") for model in recipe.models.named.values()):
        traffic = Traffic()
        yield Workers(
            partial(carry_out, shared=SharedChats(traffic)), AT_ONCE, in_one=True, traffic=traffic
        )
    elif settings.workers == 1:
        yield Workers(carry_out, 1)
    else:
        _require_guard()
        pool = _Pool(
            settings.workers,
            [*_PRELOADED, *([_ROUGE] if recipe.consistency == "hammerbench" else [])],
        )
        with pool.executor:
            yield Workers(pool.work, settings.workers)


def _require_guard() -> None:
    """Raise ConfigurationError where each worker process would run this process's script, and so
    begin the work again.
    """
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None or not Path(script).is_file() or b"__name__" in Path(script).read_bytes():
        return
    raise ConfigurationError(
        f"Worker processes run the script {script!r} again. Put the call that starts the build "
        'under `if __name__ == "__main__":`, or use workers=1.'
    )


_PRELOADED = (
    "callwright.flows.shards",
    "callwright.llm.template.model",
    "babel.dates",
    "num2words",
)
_ROUGE = (  # 85 MB, where readings are held against each other (HammerBench 4.2.2)
    "rouge_score.rouge_scorer"
)


class _Pool:
    """Processes that work shards; where one shard is called off, all are, for then its whole
    build is.
    """

    def __init__(self, slots: int, preloaded: Sequence[str]) -> None:
        # Workers are forked from a server that has imported what they need: they start at once and
        # share its memory. Not duckling: its runtime does not survive a fork.
        context = get_context("forkserver")
        context.set_forkserver_preload([*preloaded])
        self._others = active_children()
        self._has_begun = False
        self.executor = ProcessPoolExecutor(slots, mp_context=context, initializer=_settle_in)

    async def work(self, shard: Shard) -> ShardResult:
        """Work a shard in one of the processes.

        Raises TransientError where that was ended from outside.

        Starting them takes longer than the few records of a group that makes one small shard: these
        are worked here.
        """
        if not self._has_begun and shard.of == 1 and shard.records <= FEWEST:
            return await carry_out(shard)
        self._has_begun = True
        try:
            return await asyncio.get_running_loop().run_in_executor(self.executor, run_shard, shard)
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


def _settle_in() -> None:
    """Leave Ctrl-C to the process that this worker belongs to, and end when that one does,
    however it ends.
    """
    # else the collector would write into all that was imported before the fork, and so end its
    # being shared
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
