"""Prefect flow: work one shard for a build that runs elsewhere."""

from prefect import flow

from flows.engine.showing import explained
from flows.engine.working import run_working


@flow(name="work-shard", flow_run_name="{place}", persist_result=False)
async def work_shard(exchange: str, place: str) -> str:
    """Fetch a shard from the exchange, work it, and put the result back; what came of it as a sentence.

    Args:
        exchange: The URL by which shards travel, as fsspec reads it.
        place: Where in it the shard lies.

    """
    return await explained(run_working(exchange, place))
