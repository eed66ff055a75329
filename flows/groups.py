"""Running a group of stages over many records: shards, workers, and the one writer that lands what comes back."""

import asyncio
import fcntl
import shutil
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from flows.chats import concurrency_of, distinct_models
from flows.cutting import Pace, Spool
from flows.progress import Progress
from flows.recipe import Recipe
from flows.settings import Settings
from flows.shards import Shard, ShardResult
from flows.spending import land_paid, paid_folder
from warehouse.errors import BudgetError, CallwrightError, ConfigurationError, TransientError
from warehouse.records import Tool
from warehouse.store import Warehouse

_UNLANDED = 3  # shards for each worker that are under way or wait for the one writer; then no more are begun


class Workers(NamedTuple):
    """Whoever works shards, and how many at once; `settle` brings home what they still hold of the build of an earlier run.

    `in_one` says that the shards under way share what carries them: then the last ones need not be shared out.
    """

    work: Callable[[Shard], Awaitable[ShardResult]]
    slots: int
    settle: "Callable[[GroupRun], Awaitable[None]] | None" = None
    in_one: bool = False


class GroupRun(NamedTuple):
    """What a run of a group needs to know besides its records."""

    build: str
    recipe: Recipe
    settings: Settings
    warehouse: Warehouse
    tools: tuple[Tool, ...]
    toolbox: Path
    progress: Progress


async def run_group(run: GroupRun, group: str, lines: Iterable[bytes], workers: Workers, *, then: str = "") -> None:
    """Carry records, as the lines of `record_line`, through a group of stages, and what it makes through the group `then`.

    Each shard lands as it comes back. Raises, after everything that was done has landed, ConfigurationError, BudgetError
    or TransientError where a model refused, the budget was spent or a provider was away: the next build goes on from there.
    """
    folder = run.settings.home / "shards" / run.build
    with _hold(run):
        _clear(run, folder)  # what a build that was killed has left
        if workers.settle is not None:
            await workers.settle(run)
        try:
            spool = Spool(folder / f"{group}.jsonl", lines)
            total = spool.left
            if total:
                run.progress.begin(group, total)
                results = await _Carrying(run, group, then, spool, workers).all()
                _stop(group, total - sum(result.done for result in results), results)
        finally:
            _clear(run, folder)


class _Carrying:
    """One group under way: shards are cut as workers get free, and land in turns, all that wait in one transaction."""

    def __init__(self, run: GroupRun, group: str, then: str, spool: Spool, workers: Workers) -> None:
        self._run, self._group, self._then = run, group, then
        self._spool = spool
        self._workers = workers
        sharing = 1 if workers.in_one else workers.slots
        self._pace = Pace(
            most=run.recipe.shard_size,
            workers=sharing,
            concurrency=concurrency_of(run.recipe),
            in_batches=any(model.path == "batch" for model in distinct_models(run.recipe)),
        )
        self._free = asyncio.Semaphore(workers.slots)
        self._room = asyncio.Semaphore(workers.slots * _UNLANDED)
        self._writer = asyncio.Lock()
        self._back: list[ShardResult] = []  # worked, not landed yet
        self._results: list[ShardResult] = []
        self._spent = money_spent(run)
        self._is_over = False  # the other shards would fare no better

    async def all(self) -> list[ShardResult]:
        """What came of the shards."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for number in count():
                    await self._room.acquire()
                    await self._free.acquire()
                    if self._is_over or not self._spool.left:
                        break
                    tasks.create_task(self._carry(self._cut(number)))
        except ExceptionGroup as errors:
            error = the_error_of(errors)
            if error is None:
                raise
            raise error from errors
        return self._results

    def _cut(self, number: int) -> Shard:
        run, target = self._run, self._spool.path.parent / f"{self._group}-{number:05}"
        size = self._pace.next_size(self._spool.left)
        source = target.with_suffix(".jsonl")
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

    async def _carry(self, shard: Shard) -> None:
        began = time.monotonic()
        result = await self._workers.work(shard)
        self._pace.note(result.done, time.monotonic() - began)
        self._spent += result.cost  # what other shards have spent by now counts against the budget of the next
        self._is_over |= result.is_fatal or bool(result.error and not result.done)
        self._free.release()
        self._back.append(result)
        async with self._writer:
            landing, self._back = self._back, []
            if landing:
                await _to_its_end(asyncio.to_thread(self._land, landing))
                self._run.progress.advance(sum(one.done for one in landing))
                self._results += landing
        shard.source.unlink(missing_ok=True)
        self._room.release()

    def _land(self, results: Sequence[ShardResult]) -> None:
        self._run.warehouse.put_files(*(result.target for result in results))
        for result in results:
            for landed in (result.target, paid_folder(result.target)):
                shutil.rmtree(landed, ignore_errors=True)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await work that goes on in a thread also where whoever waits for it is cancelled: then it has ended nevertheless."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        task.exception()  # looked at: the cancellation is what counts
        raise


@contextmanager
def _hold(run: GroupRun) -> Iterator[None]:
    """Keep other processes from the same build: they would clear away each other's shards. Raises TransientError."""
    path = run.toolbox.with_suffix(".lock")
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TransientError(
                f"Another process is at the build {run.build} of the recipe {run.recipe.name!r}. "
                "Wait for it to end; what it does is kept, and the next build goes on from there."
            ) from error
        yield


def _clear(run: GroupRun, folder: Path) -> None:
    """Remove the shards' files, but not before what was paid for in them is written down."""
    if folder.exists():
        land_paid(folder, run.warehouse)
        shutil.rmtree(folder)


def the_error_of(errors: ExceptionGroup[Exception]) -> Exception | None:
    """The first error in a group of errors that can all be explained, None where one of them is a bug."""
    explained, bugs = errors.split((CallwrightError, OSError))  # a full disk is no bug
    if bugs is not None:
        return None
    error: Exception | None = explained
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


_KINDS = {(True, True): ConfigurationError, (True, False): BudgetError, (False, False): TransientError}


def _stop(group: str, undone: int, results: Sequence[ShardResult]) -> None:
    problems = sorted((result for result in results if result.error), key=lambda result: not result.is_fatal)
    if not problems:
        return
    kind = _KINDS[problems[0].is_fatal, problems[0].is_configuration]
    told = problems[0].error if problems[0].error.endswith((".", "!", "?")) else f"{problems[0].error}."
    raise kind(
        f"{told} {undone} records of the group {group!r} are not done; what is done is kept, and the next "
        "build goes on from there."
    )


def money_spent(run: GroupRun) -> float:
    """What the build has cost by now, in US dollars."""
    rows = run.warehouse.rows("select coalesce(sum(cost), 0) as cost from llm_calls where build = ?", [run.build])
    return float(rows[0]["cost"])
