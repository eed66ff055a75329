"""Planning single turns: how much an imperfect request may leave unsaid."""

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.families import LeftOut, Order
from callwright.generators.kinds import all_kinds
from callwright.generators.single_turn.making import plan_assignments
from callwright.warehouse.records import Tool

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


def test_an_imperfect_request_still_tells_its_tool() -> None:
    """Of operations with one summary only the values tell which is meant: none may be left out."""

    def tool(name: str, description: str) -> Tool:
        schema = {"properties": {f"{name}Id": {"type": "string"}}, "required": [f"{name}Id"]}
        return Tool(name=name, description=description, category="Pay", parameters=schema)

    tools = [
        tool("GetDomesticPayments", "Get Payment Details"),
        tool("GetInternationalPayments", "Get Payment Details"),
        tool("GetFilePayments", "Get File Payments"),
    ]
    left_out: list[LeftOut] = []
    asked = Order(all_kinds()["imperfect"], "en", "", 1, tools, seed=1, leave_out=left_out.append)
    assert [one.tool for one in plan_assignments(asked)] == [tools[2].key]
    assert {one.tool for one in left_out} == {"GetDomesticPayments", "GetInternationalPayments"}
    assert "1 other tool has its description" in left_out[0].reason
    perfect = asked._replace(kind=all_kinds()["perfect"], samples=3)
    assert len({one.tool for one in plan_assignments(perfect)}) == 3
