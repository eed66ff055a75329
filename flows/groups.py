"""Running a group of stages over many records: shards, workers, and the one writer that lands what comes back."""

import asyncio
import fcntl
import os
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from flows.news import News
from flows.recipe import Recipe
from flows.settings import Settings
from flows.shards import Shard, ShardResult, carry_out, run_shard, write_lines
from flows.spending import land_paid, paid_folder
from warehouse.errors import BudgetError, CallwrightError, ConfigurationError, TransientError
from warehouse.records import Tool
from warehouse.store import Warehouse


class Workers(NamedTuple):
    """Whoever works shards, and how many at once."""

    work: Callable[[Shard], Awaitable[ShardResult]]
    slots: int


class GroupRun(NamedTuple):
    """What a run of a group needs to know besides its records."""

    build: str
    recipe: Recipe
    settings: Settings
    warehouse: Warehouse
    tools: tuple[Tool, ...]
    toolbox: Path
    news: News


async def run_group(run: GroupRun, group: str, lines: Iterable[bytes], workers: Workers) -> None:
    """Carry records, as the lines of `record_line`, through a group of stages, landing each shard as it comes back.

    Raises, after everything that was done has landed, ConfigurationError, BudgetError or TransientError where a model
    refused, the budget was spent or a provider was away: the next build goes on from there.
    """
    folder = run.settings.home / "shards" / run.build
    with _hold(run):
        _clear(run, folder)  # what a build that was killed has left
        try:
            shards = list(_shards(run, group, lines, folder))
            total = sum(shard.records for shard in shards)
            if total:
                run.news.begin(group, total)
                results = await _carry_out(run, shards, workers)
                _stop(group, total - sum(result.done for result in results), results)
        finally:
            _clear(run, folder)


async def _carry_out(run: GroupRun, shards: Sequence[Shard], workers: Workers) -> list[ShardResult]:
    """What came of the shards, until one finds that the others would fare no better."""
    slots = asyncio.Semaphore(workers.slots)
    results: list[ShardResult] = []

    async def carry(shard: Shard) -> None:
        async with slots:
            if any(result.is_fatal or (result.error and not result.done) for result in results):
                return
            # What other shards have spent by now counts against the budget of this one.
            result = await workers.work(shard._replace(spent=money_spent(run), of=len(shards)))
            await asyncio.to_thread(run.warehouse.put_files, result.target)
        for landed in (result.target, paid_folder(result.target)):
            shutil.rmtree(landed, ignore_errors=True)
        run.news.advance(result.done)
        results.append(result)

    try:
        async with asyncio.TaskGroup() as tasks:
            for shard in shards:
                tasks.create_task(carry(shard))
    except ExceptionGroup as errors:
        error = the_error_of(errors)
        if error is None:
            raise
        raise error from errors
    return results


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


def _shards(run: GroupRun, group: str, lines: Iterable[bytes], folder: Path) -> Iterator[Shard]:
    """Write the records to files of one shard each; none of them is held in memory meanwhile."""
    left = iter(lines)
    for number in count():
        source = folder / f"{group}-{number:05}.jsonl"
        records = write_lines(source, islice(left, run.recipe.shard_size))
        if not records:
            source.unlink()
            return
        yield Shard(
            build=run.build,
            group=group,
            number=number,
            recipe=run.recipe,
            records=records,
            source=source,
            target=folder / f"{group}-{number:05}",
            toolbox=run.toolbox,
            ledger=run.settings.ledger,
            spent=0.0,
        )


def money_spent(run: GroupRun) -> float:
    """What the build has cost by now, in US dollars."""
    rows = run.warehouse.rows("select coalesce(sum(cost), 0) as cost from llm_calls where build = ?", [run.build])
    return float(rows[0]["cost"])


@contextmanager
def local_workers(recipe: Recipe, settings: Settings) -> Iterator[Workers]:
    """Workers on this machine: processes for models that compute here, this one for models across a network.

    A network model's limits hold for one process, and its time is spent waiting; an embedded one needs the cores.
    """
    slots = settings.workers if _computes_here(recipe) else 1
    if slots == 1:
        yield Workers(carry_out, 1)
        return
    # Workers are forked from a server that has imported what they need: they start at once and share its memory.
    context = get_context("forkserver")
    context.set_forkserver_preload(["flows.shards", "llm.template.model", "rouge_score.rouge_scorer"])
    others = active_children()
    with ProcessPoolExecutor(slots, mp_context=context, initializer=_settle_in) as pool:
        try:
            yield Workers(partial(_in_pool, pool), slots)
        except BaseException:  # Ctrl-C too: nobody waits for a shard that nobody will land
            for worker in active_children():
                if worker not in others:
                    worker.terminate()
            raise


def _settle_in() -> None:
    """Leave Ctrl-C to the process that this worker belongs to, and end when that one does, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


async def _in_pool(pool: Executor, shard: Shard) -> ShardResult:
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, run_shard, shard)
    except BrokenProcessPool as error:
        raise TransientError(
            "A worker process was ended from outside, perhaps because memory ran out. Build again, with fewer workers "
            "(CALLWRIGHT_WORKERS=1) if it happens again; what is done is kept."
        ) from error


def _computes_here(recipe: Recipe) -> bool:
    roles = recipe.models
    return all(model.name.startswith("template/") for model in (roles.generator, roles.checker, roles.judge))
