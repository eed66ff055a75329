"""Prefect flow: take back what people decided, and ask them what has come up since."""

from prefect import flow

from flows.engine.running import run_pulling
from flows.engine.showing import explained
from flows.review.pulling import Pulled


@flow(name="pull-reviews", flow_run_name="all recipes")
async def pull_reviews(required: bool = True) -> Pulled:  # noqa: FBT001, FBT002 - Prefect shows it as a switch
    """Pull new reviews from Label Studio, check what was edited, land what was accepted, and push what waits by now.

    Args:
        required: Fail where no Label Studio is named or running; a run on a schedule only says so while nobody was asked.

    """
    return await explained(run_pulling(required=required))
