"""Shards as tasks of Prefect's: tried again where a provider is away, within shared limits."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson
from prefect import get_client, task
from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.concurrency.asyncio import concurrency
from prefect.exceptions import ObjectNotFound
from prefect.states import Failed, aget_state_exception

from callwright.flows.recipe import Recipe
from callwright.flows.run.carry import Carrier, GroupRun, money_spent, open_carrier, put_results
from callwright.flows.run.work import (
    Shard,
    ShardResult,
    distinct_models,
    read_records,
    with_models,
    write_lines,
)
from callwright.llm.models import ModelSettings
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import TransientError

if TYPE_CHECKING:
    from callwright.flows.engine.running import FlowProgress

SHARD_RETRIES = 2
RETRY_SECONDS = 5
_ALL = 100.0
_FORBIDDEN = str.maketrans(dict.fromkeys("/%&><", ":"))  # in the names of Prefect's limits


@contextmanager
def open_task_carrier(run: GroupRun, progress: "FlowProgress") -> Iterator[Carrier]:
    """Open the carrier that the settings name, each shard a task of the flow of `progress`."""
    with open_carrier(run.recipe, run.settings, progress) as carrier:
        yield _TaskCarrier(run, carrier, progress)


async def _is_transient(_task: Any, _run: Any, state: Any) -> bool:  # noqa: ANN401 - Prefect's own types
    return isinstance(await aget_state_exception(state), TransientError)


class _TaskCarrier(Carrier):
    """Lets another carrier work each shard, in a task, and shows how far its group is as a bar."""

    def __init__(self, run: GroupRun, carrier: Carrier, progress: "FlowProgress") -> None:
        self._run, self._carrier, self._progress = run, carrier, progress
        self.slots, self.processes = carrier.slots, carrier.processes
        self._limits = _SharedLimits({}, 1)
        self._bar: UUID | None = None
        self._done = 0

    async def prepare(self, run: GroupRun) -> None:
        # Shards that share a process share its clients, too: the first takes the whole limit, the
        # next one waits for it.
        self._limits = await _shared_limits(run.recipe, self.processes)
        await self._carrier.prepare(run)

    async def work(self, shard: Shard) -> ShardResult:
        rest, tries, done, cost = shard._replace(recipe=self._limits.of(shard.recipe)), 0, 0, 0.0
        worked: ShardResult | None = None

        @task(
            name="work-shard",
            task_run_name="{group}, shard {number} of {of}",
            retries=SHARD_RETRIES,
            retry_delay_seconds=RETRY_SECONDS,
            retry_condition_fn=_is_transient,
            persist_result=False,
        )
        async def work_in_task(group: str, number: int, of: int, source: str) -> object:
            nonlocal rest, tries, done, cost, worked
            async with self._limits.within():
                spent = await asyncio.to_thread(money_spent, self._run)
                result = await self._carrier.work(rest._replace(spent=spent))
                tries, done, cost = tries + 1, done + result.done, cost + result.cost
                if not result.undone or result.is_fatal or tries > SHARD_RETRIES:
                    worked = result._replace(done=done, cost=cost)
                    return Failed(message=_undone(result)) if result.undone else None
                rest = await asyncio.to_thread(_land_done, self._run, rest, result, tries)
            raise TransientError(_undone(result))

        # Parameters are shown and stored: the path names the shard, the rest stays here.
        told = (shard.part.group, shard.number + 1, shard.of, str(shard.source))
        working: Any = work_in_task(*told, return_state=True)  # its type hides that it is awaited
        state = await working
        if worked is None:  # it could not be worked at all
            await state.aresult()
            raise TransientError(f"The shard ended as {state.name}: {state.message}")
        await self._show(worked.done)
        return worked

    async def _show(self, done: int) -> None:
        """Show that so many more records of the group are done."""
        self._done += done
        share = _ALL * self._done / max(1, self._progress.total)
        text = f"{self._progress.title}: {self._done} of {self._progress.total} records"
        if self._bar is None:
            self._bar = await acreate_progress_artifact(share, description=text)
        else:
            await aupdate_progress_artifact(self._bar, share, description=text)


def _undone(result: ShardResult) -> str:
    return f"{count_of(result.undone, 'record is', 'records are')} not done: {result.error}"


def _land_done(run: GroupRun, shard: Shard, result: ShardResult, tries: int) -> Shard:
    """Land what a try did; return the records without outcome as the shard of the next try."""
    outcomes, done = shard.target / "outcomes.jsonl", set[str]()
    if outcomes.is_file():
        with outcomes.open("rb") as file:
            done = {orjson.loads(line)["subject"] for line in file}
    name = f"{shard.part.group}-{shard.number:05}-try-{tries + 1}"
    source = shard.source.with_name(f"{name}.jsonl")
    with shard.source.open("rb") as lines:
        both = zip(lines, read_records(shard.source), strict=True)
        records = write_lines(source, (line for line, record in both if record.key not in done))
    put_results(run.warehouse, [result])
    return shard._replace(source=source, target=shard.target.with_name(name), records=records)


def limit_name(model: str) -> str:
    """Return the name of a model's limit in all flows: `openai:MODEL` for openai/MODEL."""
    return model.translate(_FORBIDDEN)


class _SharedLimits(NamedTuple):
    """How many requests of a model may be in flight in all flows, by the model's name.

    Each of `shards` that may be under way takes its part of a limit, and asks no faster than that.
    """

    limits: dict[str, int]
    shards: int

    def of(self, recipe: Recipe) -> Recipe:
        """Return the recipe with no model faster than a shard's part of its limit."""

        def part(model: ModelSettings) -> dict[str, int]:
            return {"concurrency": self._part(model.name)} if model.name in self.limits else {}

        return with_models(recipe, part)

    @asynccontextmanager
    async def within(self) -> AsyncIterator[None]:
        """Take a shard's part of each limit once it is free, in one order: none deadlocks."""
        async with AsyncExitStack() as taken:
            for model in sorted(self.limits):
                occupied = concurrency(limit_name(model), occupy=self._part(model))
                await taken.enter_async_context(occupied)
            yield

    def _part(self, model: str) -> int:
        return max(1, self.limits[model] // self.shards)


async def _shared_limits(recipe: Recipe, shards: int) -> _SharedLimits:
    """Return Prefect's limits for a recipe's models, none higher than the recipe's own."""
    found: dict[str, int] = {}
    async with get_client() as client:
        for model in distinct_models(recipe):
            try:
                limit = await client.read_global_concurrency_limit_by_name(limit_name(model.name))
            except ObjectNotFound:
                continue
            if limit.active:
                own = max(model.concurrency, found.get(model.name, 1))
                found[model.name] = min(limit.limit, own)
    return _SharedLimits(found, shards)
