from typing import Any

import pytest

from callwright.generators.catalogs import check_catalog
from callwright.warehouse.records import Tool

CITY = {"type": "string", "description": "The city."}


def tool(
    name: str = "weather",
    description: str = "Tells the weather of a city on a day.",
    **changes: Any,
) -> Tool:
    parameters = {"type": "object", "properties": {"city": CITY}, "required": ["city"]}
    return Tool(
        **{
            "name": name,
            "description": description,
            "parameters": parameters,
            "category": "town",
            **changes,
        }
    )


def with_properties(**properties: Any) -> Tool:
    return tool(parameters={"type": "object", "properties": properties})


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for level in range(levels):
        schema = (
            {"type": "object", "properties": {"a": schema}}
            if level % 2
            else {"type": "array", "items": schema}
        )
    return {**schema, "description": "Nested."}


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        (tool(description=" "), "no_description"),
        (with_properties(city={"type": "string"}), "undescribed_parameter"),
        (
            tool(parameters={"type": "object", "properties": {}, "required": ["city"]}),
            "undeclared_required",
        ),
        (with_properties(city={**CITY, "enum": ["Ulm"]}), "single_choice"),
        (with_properties(**{f"p{n}": CITY for n in range(13)}), "too_many_parameters"),
        (with_properties(deep=nested(4)), "too_deep"),
    ],
)
def test_each_weakness_of_a_tool_is_named(odd: Tool, kind: str) -> None:
    (problem,) = check_catalog([odd])
    assert (problem.kind, problem.tool, problem.where) == (kind, "weather", "town/weather")


def test_a_name_may_stand_in_two_categories_but_not_twice_in_one() -> None:
    assert check_catalog([tool(), tool(category="sea")]) == []
    (problem,) = check_catalog([tool(), tool(description="Something else altogether, really.")])
    assert problem.kind == "duplicate_name"


def test_chinese_descriptions_are_compared_too() -> None:
    one, other = "查询指定城市未来七天的天气预报情况", "查询指定城市未来七天的天气预报的情况"
    (problem,) = check_catalog([tool("a", one, language="zh"), tool("b", other, language="zh")])
    assert problem.kind == "similar_description"
