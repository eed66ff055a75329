"""Shards on Dask: a cluster of this machine, or any scheduler that is named. The only importer of distributed."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flows.progress import Progress
from flows.remote.exchange import Exchange
from flows.remote.sending import Sender
from flows.remote.work import run_parcel
from flows.settings import Settings
from warehouse.errors import CallwrightError, ConfigurationError, TransientError

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE = 30.0
# Logs at CRITICAL: what the workers of a cluster that ends say of each other's ends is for nobody.
_OWN: dict[str, Any] = {
    "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None, "silence_logs": logging.CRITICAL,
}  # fmt: skip


@contextmanager
def dask_sender(settings: Settings, exchange: Exchange, progress: Progress) -> Iterator[Sender]:
    """Send parcels to the workers of a Dask cluster, as many at once as it has threads.

    Raises ConfigurationError where Dask is not installed or nobody works there, CallwrightError where no scheduler answers.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ConfigurationError(
            "CALLWRIGHT_WORKERS asks for Dask, which is not installed; it comes with: pip install 'callwright[dask]'"
        ) from error
    address = settings.workplace.partition(":")[2]
    if not address:
        progress.say(f"{settings.workers} Dask workers of this machine carry the shards.")
        with (
            LocalCluster(settings.workers, **_OWN) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield _to(client, exchange)
        return
    try:
        connected: Any = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CallwrightError(f"No Dask scheduler answers at {address!r}: {error}.") from error
    with connected as client:
        yield _to(client, exchange)


def _to(client: "Client", exchange: Exchange) -> Sender:
    slots = sum(client.nthreads().values())
    if not slots:
        raise ConfigurationError("The Dask scheduler has no workers yet; start some with `dask worker ADDRESS`.")

    async def send(place: str) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        # Dask gives the shard to another worker where one is lost, so nothing needs to be tried again here.
        future: Any = client.submit(run_parcel, exchange.url, place, pure=False)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        try:
            await ended.wait()
            error = future.exception() if future.status == "error" else None
        finally:
            future.cancel()  # nobody waits for it any more; of one that has ended it only lets go
        if isinstance(error, CallwrightError):
            raise error
        if error is not None:
            raise TransientError(f"A Dask worker ended over a shard: {error!r}. What is done is kept.") from error

    return Sender(send, slots)
