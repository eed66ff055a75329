"""Shards on a Prefect work pool: each is a flow run of the deployment `work-shard`, picked up by whatever worker is free."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from flows.engine.server import require_server
from flows.progress import Progress
from flows.remote.exchange import Exchange, Members
from flows.remote.sending import BEAT, Sender
from flows.settings import QUIET, Settings
from warehouse.errors import TransientError

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.objects import WorkPool

PROCESS = "process"  # the type of the pools that are made here
SLOTS = 4  # shards handed out at once where the pool sets no limit
PAUSE = 1.0  # seconds between two looks at a run
LOST = 30 * BEAT  # seconds without a sign of life after which the machine of a run counts as lost


class Deployed(NamedTuple):
    """The deployment that works shards on a pool, and how many the pool takes at once."""

    identifier: UUID
    slots: int


@contextmanager
def pool_sender(
    settings: Settings, pool: str, exchange: Exchange, progress: Progress, *, silence: float = LOST
) -> Iterator[Sender]:
    """Send parcels to the workers of a Prefect work pool, as many at once as its concurrency limit allows.

    The pool is made as a process pool where there is none. Raises ConfigurationError where no Prefect server is named,
    CallwrightError where none answers.
    """
    require_server(settings)
    with ThreadPoolExecutor(1) as aside:  # an event loop may be at work in this thread
        deployed = aside.submit(asyncio.run, _deploy(pool)).result()
    progress.say(f"The workers of the pool {pool!r} carry the shards: prefect worker start --pool {pool}")

    async def send(place: str) -> None:
        from prefect import get_client

        async with get_client() as client:
            run = await client.create_flow_run_from_deployment(
                deployed.identifier, parameters={"exchange": exchange.url, "place": place}, name=place
            )
            try:
                await _ended(client, run.id, _Pulse(exchange, place, silence))
            except asyncio.CancelledError:
                await _cancel(client, run.id, "The build that wanted this shard was cut off.")
                raise

    yield Sender(send, deployed.slots)


async def _deploy(pool: str) -> Deployed:
    """Register the flow by its module: its workers may have it at any path."""
    from prefect import get_client
    from prefect.types.entrypoint import EntrypointType

    from flows.work_shard import work_shard

    await pool_named(pool)
    deployment = await work_shard.ato_deployment(
        name=pool,
        tags=["callwright"],
        work_pool_name=pool,
        job_variables={"env": {"DO_NOT_TRACK": QUIET["DO_NOT_TRACK"]}},
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    applying: Any = deployment.aapply()  # its type hides what it gives
    identifier = await applying
    async with get_client() as client:
        found = await client.read_work_pool(pool)
    return Deployed(identifier, found.concurrency_limit or SLOTS)


class _Pulse:
    """Whether whoever works a shard still gives signs of life."""

    def __init__(self, exchange: Exchange, place: str, silence: float) -> None:
        self._exchange, self._place, self._silence = exchange, place, silence
        self._beat: Members | None = None
        self._since = 0.0

    async def is_gone(self) -> bool:
        """Whether nothing was heard for too long, of a run that has begun."""
        now = asyncio.get_running_loop().time()
        beat = await asyncio.to_thread(self._exchange.get, f"{self._place}/beat")
        if not self._since or beat != self._beat:
            self._beat, self._since = beat, now
        return now - self._since > self._silence


async def _ended(client: "PrefectClient", identifier: UUID, pulse: _Pulse) -> None:
    """Return when a run has ended, or its machine is gone. Raises TransientError where it says what went wrong."""
    while True:
        run = await client.read_flow_run(identifier)
        if run.state is not None and run.state.is_failed() and not run.state.is_crashed():
            raise TransientError(f"A worker could not work its shard: {run.state.message}")
        if run.state is not None and run.state.is_final():
            return
        if run.state is not None and run.state.is_running() and await pulse.is_gone():
            await _cancel(
                client, identifier, "Its worker gave no sign of life any more; the shard went to another one."
            )
            return
        await asyncio.sleep(PAUSE)


async def _cancel(client: "PrefectClient", identifier: UUID, reason: str) -> None:
    from prefect.states import Cancelled

    await client.set_flow_run_state(identifier, Cancelled(message=reason), force=True)


async def pool_named(name: str) -> "WorkPool":
    """A work pool, made as a process pool where there is none."""
    from prefect import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
    from prefect.workers.process import ProcessWorker

    async with get_client() as client:
        try:
            return await client.read_work_pool(name)
        except ObjectNotFound:
            # With its template at hand, nobody has to look it up in a registry on the network.
            template = ProcessWorker.get_default_base_job_template()
            try:
                return await client.create_work_pool(
                    WorkPoolCreate(name=name, type=PROCESS, base_job_template=template)
                )
            except ObjectAlreadyExists:  # somebody else was faster
                return await client.read_work_pool(name)
