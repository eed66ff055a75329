"""Several calls planned at once: each with values of its own, none of tools that do the same, alike for any count."""

import pytest

from generators.catalogs.seed_catalog import seed_tools
from generators.kinds import KINDS
from generators.parallel import PARALLEL
from generators.parallel.making import plan_parallel
from generators.parallel.wording import ParallelWording, part_starts, wording_problem
from generators.planning import Order
from generators.tools import are_redundant
from warehouse.errors import ConfigurationError
from warehouse.records import Tool

TOOLS = tuple(seed_tools())


def order(samples: int, tools: tuple[Tool, ...] = TOOLS) -> Order:
    return Order(KINDS[PARALLEL], "en", "", samples, tools, seed=3)


def test_the_nth_plan_does_not_depend_on_how_many_are_asked_for() -> None:
    assert list(plan_parallel(order(30)))[:10] == list(plan_parallel(order(10)))


def test_one_tool_stands_alone_and_several_never_do_the_same() -> None:
    by_key = {tool.key: tool for tool in TOOLS}
    for plan in plan_parallel(order(80)):
        names = [call.tool for call in plan.calls]
        assert 2 <= len(names) <= 4
        shown = [by_key[key] for key in plan.candidates]
        due = [tool for tool in shown if tool.name in names]
        if len(due) == 1:
            assert shown == due
        else:
            assert len(due) == len(names)
            assert not any(are_redundant(one, other) for one in due for other in due if one is not other)


def test_calls_of_one_tool_have_no_value_in_common() -> None:
    for plan in plan_parallel(order(80)):
        if len({call.tool for call in plan.calls}) == 1:
            for name in plan.calls[0].arguments:
                values = [call.arguments[name].model_dump_json() for call in plan.calls]
                assert len(set(values)) == len(values)


def test_a_catalog_without_two_such_tools_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="need two at least"):
        list(plan_parallel(order(1, TOOLS[:1])))


def test_parts_must_follow_one_another_in_the_request() -> None:
    wording = ParallelWording(request="one, then two", parts=["two", "one"])
    assert part_starts(wording) == [10, -1]
    assert "one after the other" in wording_problem(wording, [(TOOLS[0], {}), (TOOLS[1], {})])
    assert "2 parts for 1 calls" in wording_problem(wording, [(TOOLS[0], {})])
