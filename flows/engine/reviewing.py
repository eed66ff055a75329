"""The review loop as Prefect flows carry it out: what waits goes to people, what they decided comes back."""

from flows.deciding import Pulled, pull_reviews
from flows.engine.artifacts import show_reviews
from flows.engine.running import flow_settings, run_pushing
from flows.engine.telling import FlowNews
from flows.reviewing import require_label_studio


async def run_pulling() -> Pulled:
    """Take back what people decided, show it, and push what waits by now."""
    settings = flow_settings()
    with require_label_studio(settings) as studio:
        pulled = await pull_reviews(settings, studio, FlowNews())
    counts = {name: count for name, count in pulled._asdict().items() if name != "problems"}
    await show_reviews(counts, pulled.problems)
    await run_pushing()
    return pulled
