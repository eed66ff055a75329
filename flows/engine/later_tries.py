"""What a run that failed leaves behind: what is kept, what to do, and a later try."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from prefect import get_client
from prefect.artifacts import acreate_markdown_artifact
from prefect.runtime import deployment, flow_run
from prefect.states import Scheduled

from callwright.warehouse.errors import (
    AnnotationError,
    BudgetError,
    CallwrightError,
    ConfigurationError,
    StoreError,
    TransientError,
)

# Minutes until each later try: an outage of an hour is met by the third, one of five by the last.
LATER_TRIES = (5, 15, 45, 90, 180)
_ADVICE: tuple[tuple[type[CallwrightError], str], ...] = (
    (ConfigurationError, "Correct what the sentence names, then start the run again."),
    (BudgetError, "Raise `budget` in the recipe, then start the run again."),
    (TransientError, "Start the run again once the server answers."),
    (AnnotationError, "Look at the task that the sentence names, then start the run again."),
    (StoreError, "Free the warehouse or its disk, then start the run again."),
)
_START_AGAIN = "Start the run again; it goes on from there."
_KEPT = """\
## What is kept

Samples whose stages are done are in the warehouse, and models' answers are in the ledger: no
answer is asked or paid for again. Earlier builds and releases are as they were."""


async def tell_failure(error: CallwrightError, *, again: dict[str, Any] | None) -> str:
    """Show what a failed run keeps and what to do, and return the sentence of its state.

    A deployment's run that met a provider that is away is scheduled again, later each time, with
    the parameters `again` besides its own; None: it is not tried again by itself. Nothing is done
    for flows within others.
    """
    if flow_run.parent_flow_run_id:
        return str(error)
    planned = await _plan_try(error, again) if again is not None else None
    later = f"The next try begins at {planned:%Y-%m-%d %H:%M} UTC." if planned else ""
    advice = next((said for sort, said in _ADVICE if isinstance(error, sort)), _START_AGAIN)
    markdown = f"# The run failed\n\n{error}\n\n{_KEPT}\n\n## What to do\n\n{later or advice}\n"
    await acreate_markdown_artifact(key="failure", markdown=markdown, description=str(error))
    return f"{error} {later}".strip()


async def _plan_try(error: CallwrightError, again: dict[str, Any]) -> datetime | None:
    """Schedule the run again and return when; None if there is no deployment, or no try left."""
    tries = int(flow_run.parameters.get("tries") or 0)
    if not isinstance(error, TransientError) or not deployment.id or tries >= len(LATER_TRIES):
        return None
    at = datetime.now(UTC) + timedelta(minutes=LATER_TRIES[tries])
    parameters = flow_run.parameters | again | {"tries": tries + 1}
    async with get_client() as client:
        await client.create_flow_run_from_deployment(
            UUID(deployment.id),
            parameters=parameters,
            state=Scheduled(scheduled_time=at, message=str(error)),
        )
    return at
