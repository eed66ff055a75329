"""Choosing parameters: what the plan asks for, and what no plan can have."""

from random import Random

import pytest

from generators.single_turn.requests import choose_parameters
from generators.stages import StageContext
from tests.support.scripted_model import ScriptedModel
from warehouse.errors import RecordError
from warehouse.records import Assignment, Tool

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
    return StageContext(chat=ScriptedModel({}), rng=Random(1), tools={tool.key: tool})


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
