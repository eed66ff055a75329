import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}},
    "required": ["city"],
}
WEATHER = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}


def read(format_name: str, tmp_path: Path, value: Any) -> Catalog:
    path = tmp_path / "town.json"
    path.write_text(json.dumps(value))
    return read_catalog(format_name, path)


def kinds(catalog: Catalog) -> list[str]:
    return [problem.kind for problem in catalog.problems]


@pytest.mark.parametrize(
    "value",
    [
        [WEATHER],
        [{"type": "function", "function": {**WEATHER, "strict": True}}],
        {"tools": [{"type": "function", **WEATHER}]},
        {"functions": [WEATHER]},
    ],
    ids=["bare", "wrapped", "responses", "functions"],
)
def test_openai_functions_are_read_wrapped_or_bare(value: Any, tmp_path: Path) -> None:
    catalog = read("openai", tmp_path, value)
    (tool,) = catalog.tools
    assert (tool.name, tool.description, tool.parameters) == (
        "weather",
        "Tells the weather.",
        SCHEMA,
    )
    assert (tool.category, tool.source) == ("town", "openai")
    assert not catalog.problems


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"name": ""}, "no_name"),
        ({"name": 3}, "no_name"),
        ({"parameters": ["city"]}, "not_an_object"),
        ({"parameters": "city"}, "not_an_object"),
        ({"parameters": {"type": "array"}}, "not_an_object"),
        ({"parameters": {"type": "object", "properties": ["city"]}}, "not_an_object"),
        (
            {
                "parameters": {
                    "properties": {"a": {"$ref": "https://example.org/a"}},
                    "required": ["a"],
                }
            },
            "unresolvable_reference",
        ),
        ({"parameters": {"$ref": "#/$defs/None"}}, "unresolvable_reference"),
        ({"parameters": None}, None),
    ],
)
def test_what_cannot_be_used_is_left_out_with_the_reason(
    changes: Any, kind: str | None, tmp_path: Path
) -> None:
    catalog = read("openai", tmp_path, [{**WEATHER, **changes}, WEATHER])
    assert catalog.entries == 2
    if kind is None:
        assert len(catalog.tools) == 2
        assert kinds(catalog)[0] == "no_parameters"
    else:
        assert [tool.name for tool in catalog.tools] == ["weather"]
        assert kind in kinds(catalog)
        assert catalog.problems[0].where.endswith("town.json#/0")


@pytest.mark.parametrize(
    ("parameters", "kept", "kind"),
    [
        ({"properties": {"a": {"type": "text"}}}, {"a": {}}, "unknown_type"),
        ({"properties": {"a": 5}}, {"a": {}}, "invalid_keyword"),
        ({"required": True}, {}, "invalid_keyword"),
        ({"properties": {"a": {"minimum": [1]}}}, {"a": {}}, "invalid_keyword"),
        ({"properties": {"a": {"$ref": "https://example.org/a"}}}, {}, "unsupported"),
        ({"properties": {"a": {"$ref": "#/$defs/None"}}}, {}, "unsupported"),
        ({"properties": {"a": {"$ref": 5}}}, {}, "unsupported"),
        ({"properties": {"a": {"$dynamicRef": "#a"}}}, {}, "unsupported"),
    ],
)
def test_an_odd_word_costs_that_word_and_is_told_with_its_place(
    parameters: Any, kept: Any, kind: str, tmp_path: Path
) -> None:
    catalog = read("openai", tmp_path, [{**WEATHER, "parameters": {"type": "object"} | parameters}])
    (tool,) = catalog.tools
    assert tool.properties == kept
    [problem] = [one for one in catalog.problems if one.kind == kind]
    assert "'a'" in problem.message or kept == {}


def test_what_is_used_with_an_assumption_says_which(tmp_path: Path) -> None:
    odd = {
        "name": "odd",
        "parameters": {
            "properties": {
                "a": {"description": "Anything."},
                "b": True,
                "c": {"type": "string", "pattern": "(["},
            },
            "required": ["a", "z"],
        },
    }
    catalog = read("openai", tmp_path, [odd])
    (tool,) = catalog.tools
    assert tool.properties == {"a": {"description": "Anything."}, "b": {}, "c": {"type": "string"}}
    assert tool.required == ("a",)
    assert sorted(kinds(catalog)) == [
        "bad_pattern",
        "no_description",
        "no_parameters_type",
        "undeclared_required",
        "untyped_parameter",
    ]


def test_a_tool_that_is_no_function_is_left_out(tmp_path: Path) -> None:
    catalog = read("openai", tmp_path, [{"type": "web_search"}, WEATHER])
    assert (catalog.entries, len(catalog.tools), kinds(catalog)) == (2, 1, ["unsupported"])


def test_local_definitions_are_written_out_and_circles_cut(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "folder": {"$ref": "#/$defs/Folder", "description": "Which one."},
            "$ref": {"type": "string"},
        },
        "$defs": {
            "Folder": {
                "type": "object",
                "description": "A folder.",
                "properties": {"inner": {"type": "array", "items": {"$ref": "#/$defs/Folder"}}},
            }
        },
    }
    catalog = read(
        "mcp",
        tmp_path,
        {"tools": [{"name": "open", "description": "Opens.", "inputSchema": schema}]},
    )
    (tool,) = catalog.tools
    assert tool.properties == {
        "folder": {
            "type": "object",
            "description": "Which one.",
            "properties": {
                "inner": {"type": "array", "items": {"type": "object", "description": "A folder."}}
            },
        },
        "$ref": {"type": "string"},
    }
    assert kinds(catalog) == ["circular_reference"]


def test_a_reference_that_unfolds_without_end_is_left_out(tmp_path: Path) -> None:
    members = {f"p{i}": {"$ref": f"#/$defs/D{n}"} for n in (1,) for i in range(10)}
    definitions = {
        f"D{n}": {
            "type": "object",
            "properties": {f"p{i}": {"$ref": f"#/$defs/D{n + 1}"} for i in range(10)},
        }
        for n in range(1, 9)
    } | {"D9": {"type": "string"}}
    bomb = {
        "name": "bomb",
        "inputSchema": {"type": "object", "properties": members, "$defs": definitions},
    }
    catalog = read("mcp", tmp_path, {"tools": [bomb]})
    assert not catalog.tools
    assert "too_large" in kinds(catalog)


def test_an_mcp_reply_is_read_alone_or_inside_json_rpc(tmp_path: Path) -> None:
    tool = {
        "name": "weather",
        "description": "Tells.",
        "inputSchema": SCHEMA,
        "outputSchema": {"type": "object"},
    }
    for value in (
        {"tools": [tool]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}},
        [{"tools": [tool]}],
    ):
        catalog = read("mcp", tmp_path, value)
        assert [(found.name, found.returns) for found in catalog.tools] == [
            ("weather", {"type": "object"})
        ]
        assert not catalog.problems


def test_a_cursor_says_that_the_listing_is_incomplete(tmp_path: Path) -> None:
    tool = {"name": "weather", "annotations": {"title": "Weather of today"}, "inputSchema": SCHEMA}
    catalog = read("mcp", tmp_path, {"tools": [tool], "nextCursor": "page2"})
    assert kinds(catalog) == ["no_description", "incomplete_listing"]
    assert catalog.tools[0].description == "Weather of today"


def test_json_lines_of_several_tools_are_read_and_bad_lines_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    lines = [
        {"type": "function", "function": {"name": "one", "description": "Shows one."}},
        {"name": "two", "description": "Shows two."},
        {"tools": [{"name": "three", "description": "Shows three."}]},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n{broken\n")
    catalog = read_catalog("openai", path)
    assert [tool.name for tool in catalog.tools] == ["one", "two", "three"]
    assert [(problem.kind, problem.where) for problem in catalog.problems] == [
        ("bad_json", f"{path}:4")
    ]
