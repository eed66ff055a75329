"""What samples of two data sets have in common: tools by schema, calls, requests in other words."""

from typing import Any

import pytest

from callwright.validators.overlap import Common, OverlapIndex, PlacedSample
from callwright.warehouse.records import CallTurn, GoldCall, Sample, Tool, UserTurn

CITY, DAYS = {"type": "string"}, {"type": "integer"}
TEXT = "Could you tell me the weather in Boston and in San Francisco for 3 days?"


def tool(name: str, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return Tool(name=name, description=name, parameters=schema, category="Weather")


def placed(text: str, called: Tool, arguments: dict[str, Any] | None = None) -> PlacedSample:
    turns = (
        UserTurn(text=text),
        CallTurn(calls=(GoldCall(tool=called.name, arguments=arguments or {}),)),
    )
    sample = Sample(
        kind="perfect", language="en", category="Weather", candidates=(called.key,), turns=turns
    )
    return PlacedSample(text, sample, [called])


def hows(own: PlacedSample, other: PlacedSample) -> set[Common]:
    [matches] = OverlapIndex([own]).find([other])
    return {one.how for one in matches}


WEATHER = tool("Weather.get_weather", city=CITY, days=DAYS)


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (tool("getWeather", City=CITY, days=DAYS), True),
        (tool("forecast", days=DAYS, city=CITY).with_changes(parameters=WEATHER.parameters), True),
        (tool("get_weather", city=CITY, days=CITY), False),
        (tool("get_weather", city=CITY), False),
        (tool("get_weather", city={**CITY, "enum": ["Ulm"]}, days=DAYS), False),
        (tool("forecast", city=CITY, day=DAYS), False),
    ],
)
def test_a_tool_is_known_by_its_schema(other: Tool, *, is_same: bool) -> None:
    assert hows(placed("Rain?", WEATHER), placed("Sun in Oslo?", other)) == (
        {"tool"} if is_same else set()
    )


@pytest.mark.parametrize(
    ("arguments", "is_same"),
    [
        ({"days": 3.0, "CITY": " boston "}, True),
        ({"city": "Boston", "days": 4}, False),
        ({"city": "Boston"}, False),
        ({"city": "Boston", "days": True}, False),
        ({}, False),
    ],
)
def test_a_call_is_known_whatever_the_notation_of_its_values(
    arguments: dict[str, Any], *, is_same: bool
) -> None:
    own = placed("Rain?", WEATHER, {"city": "Boston", "days": 3})
    other = placed("Sun in Oslo?", tool("get_weather", city=CITY), arguments)
    assert ("call" in hows(own, other)) == is_same


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        (TEXT, True),
        ("Please tell me the weather in Boston and San Francisco for 3 days, thanks.", True),
        (TEXT.replace("3", "4"), False),
        ("Book me a table for 3 in the best restaurant of Boston.", False),
        ("", False),
    ],
)
def test_a_request_is_known_in_other_words_and_not_with_other_numbers(
    text: str, *, is_same: bool
) -> None:
    other = tool("other", thing=CITY)
    assert hows(placed(TEXT, WEATHER), placed(text, other)) == ({"request"} if is_same else set())
