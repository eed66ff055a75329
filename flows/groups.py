"""Running a group of stages over many records: shards, workers, and the one writer that lands what comes back."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from flows.news import News
from flows.recipe import Recipe
from flows.settings import Settings
from flows.shards import Shard, ShardResult, run_shard, write_lines
from warehouse.errors import ConfigurationError, TransientError
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

    Raises, after everything that was done has landed, ConfigurationError or TransientError where a model refused or
    the budget was spent: the next build goes on from there.
    """
    folder = run.settings.home / "shards" / run.build
    shutil.rmtree(folder, ignore_errors=True)
    shards = list(_shards(run, group, lines, folder))
    total = sum(shard.records for shard in shards)
    if not total:
        return
    run.news.begin(group, total)
    slots = asyncio.Semaphore(workers.slots)
    results: list[ShardResult] = []

    async def carry(shard: Shard) -> None:
        async with slots:
            if any(result.is_fatal for result in results):
                return
            # What other shards have spent by now counts against the budget of this one.
            result = await workers.work(shard._replace(spent=_spent(run)))
            await asyncio.to_thread(run.warehouse.put_files, result.target)
        shutil.rmtree(result.target)
        run.news.advance(result.done)
        results.append(result)

    async with asyncio.TaskGroup() as tasks:
        for shard in shards:
            tasks.create_task(carry(shard))
    shutil.rmtree(folder, ignore_errors=True)
    _stop(group, total - sum(result.done for result in results), results)


def _stop(group: str, undone: int, results: Sequence[ShardResult]) -> None:
    problems = sorted((result for result in results if result.error), key=lambda result: not result.is_fatal)
    if not problems:
        return
    kind = ConfigurationError if problems[0].is_configuration else TransientError
    raise kind(
        f"{problems[0].error} {undone} records of the group {group!r} are not done; what is done is kept, and the next "
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


def _spent(run: GroupRun) -> float:
    rows = run.warehouse.rows("select coalesce(sum(cost), 0) as cost from llm_calls where build = ?", [run.build])
    return float(rows[0]["cost"])


@contextmanager
def local_workers(recipe: Recipe, settings: Settings) -> Iterator[Workers]:
    """Workers on this machine: processes for models that compute here, one thread for models across a network.

    A network model's limits hold for one process, and its time is spent waiting; an embedded one needs the cores.
    """
    slots = settings.workers if _computes_here(recipe) else 1
    if slots == 1:
        yield Workers(_in_thread, 1)
        return
    # Workers are forked from a server that has imported what they need: they start at once and share its memory.
    context = get_context("forkserver")
    context.set_forkserver_preload(["flows.shards", "llm.template.model", "rouge_score.rouge_scorer"])
    with ProcessPoolExecutor(slots, mp_context=context) as pool:
        yield Workers(partial(_in_pool, pool), slots)


async def _in_thread(shard: Shard) -> ShardResult:
    return await asyncio.to_thread(run_shard, shard)


async def _in_pool(pool: Executor, shard: Shard) -> ShardResult:
    return await asyncio.get_running_loop().run_in_executor(pool, run_shard, shard)


def _computes_here(recipe: Recipe) -> bool:
    roles = recipe.models
    return all(model.name.startswith("template/") for model in (roles.generator, roles.checker, roles.judge))
