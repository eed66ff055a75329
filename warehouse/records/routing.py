"""The records on the way to a question that is routed through a domain's whole catalog (CallNavi 3, 4.1)."""

from pydantic import Field

from warehouse.records.drafts import Draft
from warehouse.records.paths import PlannedCall
from warehouse.records.tools import Language


class RoutingPlan(Draft):
    """What a question shall ask for: calls of tools by name, in the order in which they are made.

    A `picked` argument is the `field` of what an earlier call returns. `candidates` are the keys of the domain's tools.
    """

    kind: str
    language: Language
    domain: str
    calls: tuple[PlannedCall, ...] = Field(min_length=1)
    candidates: tuple[str, ...]
    seed: int
