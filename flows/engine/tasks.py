"""Shards as Prefect tasks: tried again after a passing fault, and no try loses what the one before it did."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from prefect import task
from prefect.states import aget_state_exception

from flows.engine.artifacts import ProgressArtifact
from flows.engine.sharing import Shared, shared_limits
from flows.engine.telling import FlowProgress
from flows.groups import GroupRun, Workers, money_spent
from flows.remote.workers import open_workers
from flows.shards import Shard, ShardResult, read_records, write_lines
from flows.spending import paid_folder
from warehouse.errors import TransientError

SHARD_RETRIES = 2
RETRY_SECONDS = 5


@contextmanager
def task_workers(run: GroupRun, progress: FlowProgress) -> Iterator[Workers]:
    """The workers that the settings name, each shard a task; `progress` is the run's own, by which its progress is shown."""
    under_way: dict[str, _Tries] = {}
    shared = Shared({}, 1)
    artifact = ProgressArtifact(progress)

    @task(
        name="work-shard",
        task_run_name="{group}, shard {number} of {of}",
        retries=SHARD_RETRIES,
        retry_delay_seconds=RETRY_SECONDS,
        retry_condition_fn=_is_transient,
        persist_result=False,
    )
    async def work_shard(group: str, number: int, of: int, source: str) -> ShardResult:
        async with shared.within():
            return await under_way[source].once_more()

    with open_workers(run.recipe, run.settings, progress) as workers:

        async def work(shard: Shard) -> ShardResult:
            # A task's parameters are shown and stored: the path names the shard, the rest stays here.
            source = str(shard.source)
            under_way[source] = _Tries(run, workers, shard._replace(recipe=shared.of(shard.recipe)))
            try:
                result = await work_shard(shard.group, shard.number + 1, shard.of, source)
            finally:
                del under_way[source]
            await artifact.show(result.done)
            return result

        async def settle(settled: GroupRun) -> None:
            nonlocal shared
            shared = await shared_limits(settled.recipe, workers.slots)
            if workers.settle is not None:
                await workers.settle(settled)

        yield Workers(work, workers.slots, settle)


class _Tries:
    """A shard that may be tried several times: what a try did is landed before the next one takes the rest."""

    def __init__(self, run: GroupRun, workers: Workers, shard: Shard) -> None:
        self._run, self._workers, self._shard = run, workers, shard
        self._tries, self._done, self._cost = 0, 0, 0.0

    async def once_more(self) -> ShardResult:
        """Work what is left. Raises TransientError where another try may do more."""
        spent = await asyncio.to_thread(money_spent, self._run)
        result = await self._workers.work(self._shard._replace(spent=spent))
        self._tries += 1
        if not result.undone or result.is_fatal or self._tries > SHARD_RETRIES:
            return result._replace(done=result.done + self._done, cost=result.cost + self._cost)
        self._done += result.done
        self._cost += result.cost
        self._shard = await asyncio.to_thread(self._keep, result)
        raise TransientError(f"{result.undone} records are not done yet: {result.error}")

    def _keep(self, result: ShardResult) -> Shard:
        """Land what was done; the shard without it."""
        left = _rest(self._shard, self._tries + 1)
        self._run.warehouse.put_files(result.target)
        for landed in (result.target, paid_folder(result.target)):
            shutil.rmtree(landed, ignore_errors=True)
        return left


def _rest(shard: Shard, number: int) -> Shard:
    """The records of a shard that have no fate in its target, as a shard for try number `number`."""
    done: set[str] = set()
    fates = shard.target / "fates.jsonl"
    if fates.is_file():
        with fates.open("rb") as file:
            done = {orjson.loads(line)["subject"] for line in file}
    name = f"{shard.group}-{shard.number:05}-try-{number}"
    source = shard.source.with_name(f"{name}.jsonl")
    with shard.source.open("rb") as lines:
        left = (line for line, record in zip(lines, read_records(shard.source), strict=True) if record.key not in done)
        records = write_lines(source, left)
    return shard._replace(source=source, target=shard.target.with_name(name), records=records)


async def _is_transient(_task: Any, _run: Any, state: Any) -> bool:  # noqa: ANN401 - Prefect's own types
    return isinstance(await aget_state_exception(state), TransientError)
