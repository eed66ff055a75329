"""What is shown of tools where few of their parameters matter."""

from callwright.generators.tools import outlined
from callwright.warehouse.records import Tool

LONG = {
    "type": "object",
    "description": "Everything else. " * 40,
    "properties": {f"p{at}": {"type": "string"} for at in range(60)},
}
MANY = {
    "type": "string",
    "enum": [f"choice {at}" for at in range(60)],
    "description": "Which of them.\nAnd more.",
}
PROPERTIES = {
    "task": {"type": "string", "description": "Its id."},
    "data": LONG,
    "sort": MANY,
    "opt_fields": {"type": "array"},
}
TOOL = Tool(
    name="getTask",
    description="Get it.",
    category="Work",
    plumbing=("opt_fields",),
    parameters={
        "type": "object",
        "properties": PROPERTIES,
        "required": ["task"],
        "additionalProperties": False,
    },
)


def test_what_matters_stands_whole_and_all_else_in_a_line() -> None:
    shown = outlined(TOOL, {"sort"})["parameters"]
    assert list(shown["properties"]) == ["task", "data", "sort"]
    assert shown["properties"]["sort"] == MANY
    assert shown["properties"]["task"] == PROPERTIES["task"], "what is small stays"
    assert shown["properties"]["data"].keys() == {"type", "description"}
    assert len(shown["properties"]["data"]["description"]) <= 160
    assert (shown["required"], shown["additionalProperties"]) == (["task"], False)
    assert outlined(TOOL, {"data"})["parameters"]["properties"]["sort"] == {
        "type": "string",
        "description": "Which of them.",
    }


def test_definitions_are_shown_only_where_something_refers_to_them() -> None:
    definitions = {"$defs": {"Part": {"type": "string"}}}
    schema = (
        TOOL.parameters
        | definitions
        | {"properties": {"one": {"$ref": "#/$defs/Part"}, "task": {"type": "string"}}}
    )
    assert (
        outlined(TOOL.with_changes(parameters=schema), {"one"})["parameters"]["$defs"]
        == definitions["$defs"]
    )
    assert (
        "$defs"
        not in outlined(TOOL.with_changes(parameters=TOOL.parameters | definitions), {"task"})[
            "parameters"
        ]
    )
