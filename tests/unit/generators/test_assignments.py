"""Planning single turns: how much an imperfect request may leave unsaid."""

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.families import Order
from callwright.generators.kinds import all_kinds
from callwright.generators.single_turn.making import plan_assignments

TOOLS = seed_tools(["en"])
REQUIRED = {tool.key: len(tool.required) for tool in TOOLS}
ROUND = sum(1 for count in REQUIRED.values() if count)


def order(samples: int) -> Order:
    return Order(all_kinds()["imperfect"], "en", "", samples, TOOLS, seed=1)


def test_an_imperfect_request_may_give_nothing_so_that_several_questions_are_left() -> None:
    first = list(plan_assignments(order(ROUND)))
    missing = [REQUIRED[one.tool] - one.parameter_count for one in first]
    assert min(missing) >= 1
    assert 0.35 <= sum(count > 1 for count in missing) / ROUND <= 0.8
    assert any(one.parameter_count for one in first)
