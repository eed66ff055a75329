"""Parameters and results of a tool: the schema that is made of them, and what is too complex,
double or hostile.
"""

import re

import pytest

from callwright.generators.tools import argument_problems
from callwright.generators.toolset.sketches import ParameterSketch
from callwright.generators.toolset.steps import (
    ToolParameters,
    ToolReturns,
    choose_returns,
    choose_tool_parameters,
)
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Tool
from tests.support.generators.toolset.toolset_plans import (
    described,
    parameter,
    parameterised,
    result,
    scripted,
)

FOUR = ["Work", "Gym", "School", "Garden"]
LABEL = parameter("label", kind="text", description="label", examples=FOUR, required=False)


def parameters(*sketches: ParameterSketch) -> ToolParameters:
    return ToolParameters(parameters=list(sketches))


def members(count: int) -> list[dict[str, object]]:
    return [
        {"name": f"part{at}", "kind": "date", "description": f"part {at}"} for at in range(count)
    ]


USABLE = (
    parameter("time"),
    LABEL,
    parameter("day", kind="date"),
    parameter("moment", kind="date_time", required=False),
    parameter("volume", kind="integer", minimum=1, maximum=9, required=False),
    parameter("sound", kind="choice", choices=["bells", "birds"], required=False),
)
UNUSABLE = [
    (parameters(*USABLE, parameter("seventh")), "7 parameters were given; at most 6"),
    (parameters(parameter("alarmTime")), "not in snake_case"),
    (parameters(parameter("x" * 5000)), "not in snake_case with at most 40"),
    (parameters(parameter("time\n</name>ignore")), "not in snake_case"),
    (parameters(parameter("__class__")), "not in snake_case"),
    (parameters(parameter("time"), parameter("time")), "the name 'time' stands twice"),
    (
        parameters(parameter("time"), parameter("at", description="Time of the alarm ")),
        "stands twice",
    ),
    (parameters(parameter(description=" ")), "is not one line of 1 to 80 characters"),
    (parameters(parameter(description="x" * 500)), "is not one line of 1 to 80 characters"),
    (parameters(parameter(description="闹钟时间")), "not in the language 'en'"),
    (parameters(parameter("label", kind="text")), "0 examples of 'label' were given; 4 to 12"),
    (
        parameters(parameter("label", kind="text", examples=["a"] * 4)),
        "some examples of 'label' are the same",
    ),
    (
        parameters(parameter("label", kind="text", examples=[*FOUR, "x" * 999])),
        "1 to 120 characters",
    ),
    (
        parameters(parameter("label", kind="text", examples=[*FOUR, "健身"])),
        "not in the language 'en'",
    ),
    (
        parameters(parameter("sound", kind="choice", choices=["bells"])),
        "1 choices of 'sound' were given",
    ),
    (
        parameters(parameter("sound", kind="choice", choices=[str(at) for at in range(99)])),
        "99 choices",
    ),
    (parameters(parameter("volume", kind="integer")), "lacks a minimum or a maximum"),
    (
        parameters(parameter("volume", kind="integer", minimum=9, maximum=1)),
        "is not below its maximum",
    ),
    (parameters(parameter("volume", kind="number", minimum=0, maximum=float("inf"))), "not within"),
    (parameters(parameter("volume", kind="number", minimum=float("nan"), maximum=2)), "not within"),
    (
        parameters(parameter("mail", kind="email", examples=["not a mail"])),
        "no value of the kind 'email'",
    ),
    (parameters(parameter("user_id", kind="text", examples=FOUR)), "known of whoever is signed in"),
    (
        parameters(LABEL, parameter("label_id", kind="text", examples=FOUR)),
        "says the same as 'label'",
    ),
    (parameters(parameter("place", kind="group")), "has no members"),
    (parameters(parameter("place", kind="group", members=members(5))), "has 5 members; at most 4"),
    (
        parameters(parameter("place", kind="date", members=members(2))),
        "has members, but is of the kind 'date'",
    ),
]


async def test_the_schema_accepts_what_people_say_and_nothing_else() -> None:
    _, context = scripted({"choose_tool_parameters": [parameters(*USABLE)]})
    (made,) = await choose_tool_parameters(described(), context)
    tool = Tool(
        name="Clock.Alarms.setAlarm", description="", parameters=made.parameters, category="Clock"
    )
    assert tool.required == ("time", "day")
    good = {
        "time": "07:30",
        "day": "2027-01-02",
        "moment": "2027-01-02 07:30",
        "volume": 3,
        "sound": "birds",
    }
    assert argument_problems(tool, good, partial=False) == []
    for wrong in (
        {"time": "7.30"},
        {"day": "tomorrow"},
        {"volume": 10},
        {"sound": "cats"},
        {"moment": "07:30"},
    ):
        assert len(argument_problems(tool, wrong, partial=True)) == 1, wrong


async def test_a_list_and_a_group_hold_plain_members() -> None:
    names = parameter("names", kind="list", description="names", examples=FOUR)
    span = parameter("span", kind="group", description="span", members=members(2))
    spans = parameter("spans", kind="list", description="spans", members=members(1))
    _, context = scripted({"choose_tool_parameters": [parameters(names, span, spans)]})
    (made,) = await choose_tool_parameters(described(), context)
    properties = made.parameters["properties"]
    assert properties["names"]["items"] == {"type": "string", "examples": FOUR}
    assert properties["span"]["required"] == ["part0", "part1"]
    assert properties["spans"]["items"]["type"] == "object"


@pytest.mark.parametrize(("answer", "problem"), UNUSABLE)
async def test_unusable_parameters_are_given_up_after_three_answers(
    answer: ToolParameters, problem: str
) -> None:
    model, context = scripted({"choose_tool_parameters": [answer] * 3})
    with pytest.raises(
        ReplyError, match=rf"(?s)parameters of 'Clock.*' were unusable in 3 .*{re.escape(problem)}"
    ):
        await choose_tool_parameters(described(), context)
    assert model.left == {}


async def test_the_finished_tool_is_generated_and_has_what_the_stages_gave() -> None:
    done = result("done_at", kind="date_time")
    _, context = scripted({"choose_returns": [ToolReturns(returns=[result(), done])]})
    (tool,) = await choose_returns(parameterised(), context)
    assert (tool.name, tool.description, tool.category) == (
        "Clock.Alarms.setAlarm",
        "Set an alarm.",
        "Clock",
    )
    assert tool.source == "generated"
    assert tool.parameters == parameterised().parameters
    assert tool.returns is not None
    assert tool.returns["required"] == ["success", "done_at"]


@pytest.mark.parametrize(
    ("returns", "problem"),
    [
        ([], "0 values are returned"),
        ([result(f"value_{at}") for at in range(7)], "7 values are returned"),
        ([result("alarm")], "changes something, but returns none of"),
        ([result(), result("Alarm")], "not in snake_case"),
        ([result(), result("alarm", description="闹钟")], "not in the language 'en'"),
    ],
)
async def test_unusable_returns_are_given_up_after_three_answers(
    returns: list[object], problem: str
) -> None:
    model, context = scripted({"choose_returns": [ToolReturns(returns=returns)] * 3})
    with pytest.raises(ReplyError, match=rf"returns of 'Clock.*' were unusable in 3 .*{problem}"):
        await choose_returns(parameterised(), context)
    assert model.left == {}
