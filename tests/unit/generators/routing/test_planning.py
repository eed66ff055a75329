"""Plans over a whole catalog: as many calls as the difficulty has, and links between what is
returned and what is taken.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.generators.catalogs.own_catalogs import domain_tools
from callwright.generators.routing import ROUTING_EASY, ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.making import plan_routing
from callwright.generators.routing.tool_graph import feeds
from callwright.generators.tools import argument_problems
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Picked, RoutingPlan, StatedValue, Tool
from tests.support.generators.routing.asking import routing_order

DOMAINS = st.sampled_from(("Airline", "Bank", "Clinic", "Telecom"))
SEEDS = st.integers(0, 10_000)


def plans(
    kind: str, domain: str, seed: int, count: int = 6
) -> tuple[list[RoutingPlan], dict[str, Tool]]:
    tools = domain_tools([domain])
    return list(plan_routing(routing_order(kind, domain, count, tools, seed))), {
        tool.name: tool for tool in tools
    }


def linked(plan: RoutingPlan) -> list[tuple[int, str, Picked]]:
    return [
        (at, name, source)
        for at, call in enumerate(plan.calls)
        for name, source in call.arguments.items()
        if isinstance(source, Picked)
    ]


@given(DOMAINS, SEEDS)
@settings(max_examples=6, deadline=None)
def test_each_difficulty_has_its_number_of_calls(domain: str, seed: int) -> None:
    for plan in plans(ROUTING_EASY, domain, seed)[0]:
        assert len(plan.calls) == 1
        assert not linked(plan)
    for plan in plans(ROUTING_MEDIUM, domain, seed)[0]:
        assert 2 <= len(plan.calls) <= 5
        assert not linked(plan)
    for plan in plans(ROUTING_HARD, domain, seed)[0]:
        assert 2 <= len(plan.calls) <= 5
        assert linked(plan)


@given(DOMAINS, SEEDS)
@settings(max_examples=12, deadline=None)
def test_what_is_unknown_is_returned_by_a_call_before(domain: str, seed: int) -> None:
    planned, tools = plans(ROUTING_HARD, domain, seed)
    for plan in planned:
        for at, name, source in linked(plan):
            assert source.call < at
            giver = plan.calls[source.call].tool
            assert feeds(source.field, tools[giver], name, tools[plan.calls[at].tool])
        used = {source.call for _, _, source in linked(plan)}
        first = next(iter(used))
        assert all(
            isinstance(source, StatedValue) for source in plan.calls[first].arguments.values()
        )


@given(DOMAINS, SEEDS)
@settings(max_examples=12, deadline=None)
def test_what_is_said_fits_the_schema_and_nothing_required_is_left_out(
    domain: str, seed: int
) -> None:
    for kind in (ROUTING_EASY, ROUTING_MEDIUM, ROUTING_HARD):
        planned, tools = plans(kind, domain, seed)
        for call in (call for plan in planned for call in plan.calls):
            said = {
                name: one.value
                for name, one in call.arguments.items()
                if isinstance(one, StatedValue)
            }
            assert argument_problems(tools[call.tool], said, partial=True) == []
            assert set(call.arguments) == set(tools[call.tool].required)


def test_raising_a_count_changes_nothing_before() -> None:
    few, _ = plans(ROUTING_HARD, "Bank", 3, count=4)
    many, _ = plans(ROUTING_HARD, "Bank", 3, count=12)
    assert many[:4] == few
    assert len({plan.key for plan in many}) == 12


def test_a_catalog_whose_tools_feed_nothing_allows_no_nested_question() -> None:
    lone = [tool for tool in domain_tools(["Bank"]) if not tool.name.startswith("find")]
    with pytest.raises(
        ConfigurationError, match="In the domain 'Bank' no tool takes what another one returns"
    ):
        list(plan_routing(routing_order(ROUTING_HARD, "Bank", 1, lone)))


def test_an_id_by_no_other_name_is_no_link_between_tools() -> None:
    returns = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "order_id": {"type": "string"}},
    }
    takes = {"type": "object", "properties": returns["properties"]}
    source = Tool(
        name="find_order", description="Find it.", parameters={}, category="shop", returns=returns
    )
    target = Tool(name="read_item", description="Read it.", parameters=takes, category="shop")
    assert feeds("order_id", source, "order_id", target)
    assert not feeds("id", source, "id", target)
