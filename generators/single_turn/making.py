"""How single-turn requests are made: assignments, then parameters, values and words (HammerBench 4.2.1)."""

from collections.abc import Iterator
from typing import cast

from generators.planning import Making, Order
from generators.single_turn.planning import plan_assignments
from generators.single_turn.requests import choose_parameters, fill_values, write_requests
from generators.stages import Stage
from warehouse.records import Assignment, SingleTurnKind


def _plan(order: Order) -> Iterator[Assignment]:
    kind = cast("SingleTurnKind", order.kind.name)  # the family has no other kinds
    return plan_assignments(
        kind, order.language, order.samples, order.tools, seed=order.seed, candidates=order.candidates
    )


MAKING = Making(
    "single_turn",
    stages=(
        Stage(
            "parameters", "single_turn", "Choose the parameters that everyday users give.",
            "Assignment", "ParameterChoice", "HammerBench 4.2.1, D.3",
            choose_parameters, "generator", ("generators/single_turn/prompts/choose_parameters.j2",),
        ),
        Stage(
            "values", "single_turn", "Give each chosen parameter a value that its schema allows.",
            "ParameterChoice", "DraftCall", "HammerBench 4.2.1, D.2",
            fill_values, "generator", ("generators/single_turn/prompts/fill_values.j2",),
        ),
        Stage(
            "requests", "single_turn", "Word the drafted call as a request, again until it says exactly the arguments.",
            "DraftCall", "Sample", "HammerBench 4.2.1, D.2",
            write_requests, "generator", ("generators/single_turn/prompts/write_request.j2",),
        ),
    ),
    drafts=Assignment,
    plan=_plan,
    validates=True,
)  # fmt: skip
