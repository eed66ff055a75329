"""Choosing parameters: what the plan asks for, and what no plan can have."""

import pytest

from callwright.generators.single_turn.making import as_many, choose_parameters
from callwright.generators.stages import StageContext
from callwright.testing import context_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Assignment, Tool

PROPERTIES = {"city": {"type": "string"}, "day": {"type": "string"}}


def planned(tool: Tool, count: int) -> Assignment:
    return Assignment(
        kind="imperfect",
        language="en",
        category="x",
        tool=tool.key,
        candidates=(tool.key,),
        parameter_count=count,
        seed=1,
    )


def context(tool: Tool) -> StageContext:
    return context_of([tool])


def forecast(*required: str) -> Tool:
    schema = {"type": "object", "properties": PROPERTIES, "required": list(required)}
    return Tool(name="forecast", description="Tell the weather.", category="x", parameters=schema)


async def test_an_imperfect_request_lacks_a_required_parameter() -> None:
    tool = forecast("city")
    [choice] = await choose_parameters(planned(tool, 2), context(tool))
    assert choice.parameters == ("day",)


async def test_a_tool_that_requires_nothing_can_have_no_imperfect_request() -> None:
    tool = forecast()
    with pytest.raises(RecordError, match=r"'forecast' requires no parameter.*imperfect"):
        await choose_parameters(planned(tool, 2), context(tool))


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        (["a", "b", "c"], ("b", "a")),
        (["c"], ("c", "b")),
        (["x", "a", "a", "b"], ("a", "b")),
        ([], ("b", "a")),
    ],
)
def test_too_many_parameters_are_cut_and_too_few_are_filled_up(
    named: list[str], kept: tuple[str, ...]
) -> None:
    properties = {name: {"type": "string"} for name in "abcd"}
    tool = Tool(
        name="t",
        description="",
        category="x",
        parameters={"properties": properties, "required": ["b"]},
    )
    assert as_many(named, tuple(properties), 2, tool) == kept
