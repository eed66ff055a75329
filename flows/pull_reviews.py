"""Prefect flow: take back what people decided, and ask them what has come up since."""

from prefect import flow

from flows.deciding import Pulled
from flows.engine.reviewing import run_pulling
from flows.engine.telling import explained


@flow(name="pull-reviews", flow_run_name="all recipes")
async def pull_reviews() -> Pulled:
    """Pull new reviews from Label Studio, check what was edited, land what was accepted, and push what waits by now."""
    return await explained(run_pulling())
