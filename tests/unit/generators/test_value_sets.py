"""Several sets of values for one wording: plans that differ in their values alone."""

import pytest

from callwright.generators.catalogs.own_catalogs import domain_tools, seed_tools
from callwright.generators.families import Order
from callwright.generators.kinds import all_kinds
from callwright.generators.parallel import PARALLEL
from callwright.generators.parallel.making import plan_parallel
from callwright.generators.routing import ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.making import plan_routing
from callwright.generators.single_turn.making import plan_assignments

SETS = 3


def test_assignments_share_all_but_their_set_unless_they_give_nothing() -> None:
    order = Order(all_kinds()["imperfect"], "en", "", 30, tuple(seed_tools(["en"])), seed=1)
    plain = list(plan_assignments(order))
    planned = list(plan_assignments(order._replace(value_sets=SETS)))
    assert len({one.key for one in planned}) == len(planned) == 30
    shared = 0
    for at, one in enumerate(planned):
        first = plain[at // SETS]
        if first.parameter_count:
            shared += one.with_changes(value_set=0) == first
            assert one.value_set == at % SETS
        else:
            assert not one.value_set
    assert shared > SETS


@pytest.mark.parametrize("kind", [PARALLEL, ROUTING_MEDIUM, ROUTING_HARD])
def test_plans_of_several_calls_differ_in_their_values_alone(kind: str) -> None:
    tools = tuple(domain_tools(["Bank"]))
    order = Order(all_kinds()[kind], "en", "Bank", 12, tools, seed=3, value_sets=SETS)
    plan = plan_parallel if kind == PARALLEL else plan_routing
    planned = list(plan(order))
    assert len({one.key for one in planned}) == len(planned) == 12
    for at, one in enumerate(planned):
        first = planned[at - at % SETS]
        assert (one.seed, one.candidates, one.value_set) == (
            first.seed,
            first.candidates,
            at % SETS,
        )
        assert [(call.tool, [*call.arguments]) for call in one.calls] == [
            (call.tool, [*call.arguments]) for call in first.calls
        ]
        assert one == first or one.calls != first.calls
