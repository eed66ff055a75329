"""A shard as a worker of a Prefect pool carries it out: nothing of the builder's work folder is at hand, the exchange is."""

from flows.engine.running import flow_settings
from flows.engine.showing import FlowProgress
from flows.remote.exchange import Exchange
from flows.remote.work import work_parcel


async def run_working(exchange: str, place: str) -> str:
    """Work the parcel at `place`, with files in this worker's own scratch folder; what came of it as a sentence."""
    said = await work_parcel(Exchange(exchange), place, flow_settings().scratch)
    FlowProgress().say(said)
    return said
