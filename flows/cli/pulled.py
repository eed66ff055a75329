"""What a pull brought, as the command line tells it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.review.deciding import Pulled


def pulled_lines(result: "Pulled") -> Iterator[str]:
    """What a pull brought, in sentences."""
    if result.reviews:
        yield (
            f"{result.reviews} new reviews: {result.accepted} accepted, {result.edited} edited, "
            f"{result.rejected} rejected."
        )
    else:
        yield "No new reviews."
    if result.returned:
        yield f"{result.returned} went back to people as new tasks: what was typed can't be used, and the task says why."
    if result.contradicted:
        yield f"{result.contradicted} edited samples went back to people: a check contradicts them."
    if result.withdrawn:
        yield f"{result.withdrawn} earlier reviews count no more: their annotations were deleted or skipped."
    if result.deleted:
        yield f"{result.deleted} tasks were deleted; those that nobody had decided are pushed again."
    if result.elsewhere:
        yield f"{result.elsewhere} annotations are of samples that another work folder pushed; they are left to it."
    yield from result.problems
