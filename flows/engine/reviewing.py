"""The review loop as Prefect flows carry it out: what waits goes to people, what they decided comes back."""

from flows.engine.artifacts import show_reviews
from flows.engine.entering import flow_settings
from flows.engine.running import run_pushing
from flows.engine.telling import FlowProgress
from flows.places import open_warehouse
from flows.review.deciding import Pulled, pull_reviews
from flows.review.servers import label_studio_address, require_label_studio


async def run_pulling(*, required: bool = True) -> Pulled:
    """Take back what people decided, show it, and push what waits by now.

    Unless `required` it is no failure that there is no Label Studio, as long as nobody was asked in one.
    """
    settings = flow_settings()
    if not (required or label_studio_address(settings) or open_warehouse(settings).rows(_ASKED)):
        FlowProgress().say("No Label Studio is named or running, and nobody was asked yet: there is nothing to pull.")
        return Pulled()
    with require_label_studio(settings) as studio:
        pulled = await pull_reviews(settings, studio, FlowProgress())
    counts = {name: count for name, count in pulled._asdict().items() if name != "problems"}
    await show_reviews(counts, pulled.problems)
    await run_pushing()
    return pulled


_ASKED = "select 1 from review_requests where pushed_at is not null limit 1"
