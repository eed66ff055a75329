"""How requests for several calls are made: calls are planned by code, then worded as one message."""

from collections.abc import Iterator

from generators.parallel.planning import plan_parallel
from generators.parallel.wording import write_parallel
from generators.planning import Making, Order
from generators.stages import Stage
from warehouse.records import RoutingPlan


def _plan(order: Order) -> Iterator[RoutingPlan]:
    return plan_parallel(order)


MAKING = Making(
    "parallel",
    stages=(
        Stage(
            "parallel_requests", "parallel", "Word calls that do not depend on each other as one message.",
            "RoutingPlan", "Sample", "BFCL v4, parallel",
            write_parallel, "generator", ("generators/parallel/prompts/write_parallel.j2",),
        ),
    ),
    drafts=RoutingPlan,
    plan=_plan,
    validates=True,
)  # fmt: skip
