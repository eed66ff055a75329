"""A model gives the values of calls that are asked for at once; what it gives wrongly or not at
all is what was drawn.
"""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.generators.own_values import OwnValues
from callwright.generators.routing.wording import PlanValues, choose_plan_values
from callwright.generators.stages import StageContext
from callwright.generators.tools import argument_problems
from callwright.testing import ScriptedModel
from callwright.warehouse.records import Origin, PlannedCall, RoutingPlan, StatedValue, Tool

TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 1}


def tool(name: str, required: tuple[str, ...], **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name=name, description=f"Does {name}.", category="Town", parameters=schema)


BOOK = tool(
    "bookRoom",
    ("hotel", "nights"),
    hotel=TEXT,
    nights=COUNT,
    breakfast=TEXT,
    ranks={"type": "array"},
)
RENT = tool("rentBike", ("city",), city=TEXT, kind=TEXT)
BOTH: list[dict[str, JsonValue]] = [
    {"call": 0, "parameter": "hotel", "value": "Quayside Inn"},
    {"call": 0, "parameter": "nights", "value": 2},
    {"call": 1, "parameter": "city", "value": "Bergen"},
]


def call_of(one: Tool, **arguments: JsonValue) -> PlannedCall:
    return PlannedCall(
        tool=one.name,
        arguments={
            name: StatedValue(value=value, element="text") for name, value in arguments.items()
        },
    )


DRAWN = (
    call_of(BOOK, hotel="Drawn House", nights=5, breakfast="drawn"),
    call_of(RENT, city="Drawnton"),
)


def plan_of(calls: tuple[PlannedCall, ...]) -> RoutingPlan:
    return RoutingPlan(
        kind="parallel",
        language="en",
        domain="Town",
        calls=calls,
        candidates=(BOOK.key, RENT.key),
        seed=3,
        origin=Origin(stage="parallel_plans"),
    )


def context_with(model: ScriptedModel, own: OwnValues | None = None) -> StageContext:
    return StageContext(
        model, Random(0), {one.key: one for one in (BOOK, RENT)}, own_values=own or OwnValues()
    )


async def chosen(
    *answers: list[dict[str, JsonValue]],
    calls: tuple[PlannedCall, ...] = DRAWN,
    own: OwnValues | None = None,
) -> tuple[list[dict[str, JsonValue]], ScriptedModel]:
    """The arguments of each call after these answers in turn."""
    model = ScriptedModel(
        {"plan_values": [PlanValues.model_validate({"values": one}) for one in answers]}
    )
    [made] = await choose_plan_values(
        plan_of(calls), context_with(model, own), stage="parallel_values"
    )
    return [
        {name: getattr(one, "value", one) for name, one in call.arguments.items()}
        for call in made.calls
    ], model


async def test_values_are_the_models_and_optional_ones_that_it_leaves_out_are_left_out() -> None:
    assert (await chosen(BOTH))[0] == [{"hotel": "Quayside Inn", "nights": 2}, {"city": "Bergen"}]


@pytest.mark.parametrize("bad", [0, "many", None, {"nights": 2}])
async def test_what_the_schema_refuses_is_asked_for_again_then_drawn(bad: JsonValue) -> None:
    wrong: list[dict[str, JsonValue]] = [BOTH[0], {**BOTH[1], "value": bad}, BOTH[2]]
    assert (await chosen(wrong, BOTH))[0][0]["nights"] == 2
    assert (await chosen(wrong, wrong))[0] == [
        {"hotel": "Quayside Inn", "nights": 5},
        {"city": "Bergen"},
    ]


async def test_calls_of_one_tool_that_could_be_mistaken_for_each_other_stay_as_drawn() -> None:
    calls = (call_of(RENT, city="Drawnton"), call_of(RENT, city="Lotsville"))
    same = [
        {**BOTH[2], "call": at, "value": value}
        for at, value in enumerate(["Bergen", "bergen harbour"])
    ]
    assert [one["city"] for one in (await chosen(same, calls=calls))[0]] == [
        "Drawnton",
        "Lotsville",
    ]
    other = [{**BOTH[2], "call": at, "value": value} for at, value in enumerate(["Bergen", "Oslo"])]
    assert [one["city"] for one in (await chosen(other, calls=calls))[0]] == ["Bergen", "Oslo"]


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
)
NAMES = st.sampled_from(["hotel", "nights", "breakfast", "ranks", "city", "kind", "", "other"])
ANSWERS = st.lists(
    st.fixed_dictionaries({"call": st.integers(-2, 3), "parameter": NAMES, "value": VALUES}),
    max_size=8,
)


@given(first=ANSWERS, second=ANSWERS)
async def test_whatever_is_answered_the_calls_are_full_and_fit_their_schemas(
    first: list[Any], second: list[Any]
) -> None:
    made, _ = await chosen(first, second)
    for one, arguments in zip((BOOK, RENT), made, strict=True):
        assert argument_problems(one, arguments, partial=False) == []
