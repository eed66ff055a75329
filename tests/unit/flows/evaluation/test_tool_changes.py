"""Files that give a release's tools other names and words: what they come to, and what is
refused, by tool and name.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from callwright.flows.evaluation.tool_changes import ShownTools, apply_changes, changed_tools
from callwright.generators.catalogs import read_catalog
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool
from callwright.warehouse.tool_notes import ToolNote

STATED = [
    {
        "name": name,
        "description": about,
        "parameters": {"type": "object", "required": [*needed], "properties": {**needed, **more}},
    }
    for name, about, needed, more in (
        (
            "get_weather",
            "The weather now.",
            {"city": {"type": "string", "description": "A city."}},
            {"unit": {"type": "string", "enum": ["c", "f"], "description": "The unit."}},
        ),
        ("find_train", "Find a train.", {"to": {"type": "string", "description": "Where to."}}, {}),
    )
]


def written(path: Path, tools: list[dict[str, Any]]) -> Path:
    path.write_text(
        json.dumps([{"type": "function", "function": tool} for tool in tools]), encoding="utf-8"
    )
    return path


def copied(**changes: Any) -> list[dict[str, Any]]:
    """The tools as they are stated, the first one with changes: of its parameters by `_` before
    the name.
    """
    first, other = json.loads(json.dumps(STATED))
    for name, value in changes.items():
        if name.startswith("_"):
            first["parameters"]["properties"][name[1:]] |= value
        else:
            first[name] = value
    return [first, other]


@pytest.fixture
def tools(tmp_path: Path) -> list[Tool]:
    """The release's tools, and one of them in another language."""
    return [*read_catalog("openai", written(tmp_path / "release.json", STATED)).tools]


def test_words_change_what_they_name_and_nothing_else(tools: list[Tool], tmp_path: Path) -> None:
    words = {
        "name": "weather",
        "description": "Rain or sun?",
        "parameters": {"city": {"name": "town", "description": "A town."}},
    }
    file = tmp_path / "my words.yaml"
    file.write_text(yaml.safe_dump({"tools": {"get_weather": words}}), encoding="utf-8")
    shown = apply_changes("v1", tools, file)
    [one] = changed_tools(tools, shown)
    assert one.shown.signature == {
        "name": "weather",
        "description": "Rain or sun?",
        "parameters": (
            tools[0].parameters
            | {
                "required": ["town"],
                "properties": {
                    "town": tools[0].properties["city"] | {"description": "A town."},
                    "unit": tools[0].properties["unit"],
                },
            }
        ),
    }
    assert [tuple(word) for word in one.changed] == [
        ("name", "get_weather", "weather"),
        ("description", "The weather now.", "Rain or sun?"),
        ("parameter city: name", "city", "town"),
        ("parameter city: description", "A city.", "A town."),
    ]
    assert (shown.name, shown.show("get_weather", {"city": "Ulm"})) == (
        "my-words",
        ("weather", {"town": "Ulm"}),
    )
    assert apply_changes("v1", tools, {"tools": {"get_weather": words}}).tools == shown.tools


def test_a_catalog_stands_in_the_place_of_the_tools(tools: list[Tool], tmp_path: Path) -> None:
    there = copied(name="weather", description="Rain or sun?", _unit={"description": "C or F."})
    city = there[0]["parameters"]["properties"].pop("city")
    there[0]["parameters"] |= {"required": ["town"]}
    there[0]["parameters"]["properties"]["town"] = city
    written(tmp_path / "api.json", there)
    file = tmp_path / "changed.yaml"
    renames = {"get_weather": "weather", "get_weather.city": "town"}
    file.write_text(yaml.safe_dump({"catalog": "api.json", "renames": renames}), encoding="utf-8")
    [one] = changed_tools(tools, apply_changes("v1", tools, file))
    assert [word.what for word in one.changed] == [
        "name",
        "description",
        "parameter city: name",
        "parameter unit: description",
        "order of parameters",
    ]
    written(tmp_path / "api.json", there[:1])
    with pytest.raises(
        ConfigurationError, match="has no tool 'find_train' of the release 'v1'; it has 'weather'"
    ):
        apply_changes("v1", tools, file)
    file.write_text(
        yaml.safe_dump({"catalog": "api.json", "renames": renames, "others": "keep"}),
        encoding="utf-8",
    )
    assert len(apply_changes("v1", tools, file).tools) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"_unit": {"enum": ["c", "k"]}},
            "parameters.properties.unit.enum is ['c', 'k'] in place of ['c', 'f']",
        ),
        (
            {"_city": {"type": "integer"}},
            "parameters.properties.city.type is 'integer' in place of 'string'",
        ),
        (
            {"parameters": {"type": "object", "properties": {}}},
            "parameters.properties.city is only in the release",
        ),
    ],
)
def test_a_catalog_that_changes_more_than_words_is_refused(
    tools: list[Tool], tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = written(tmp_path / "api.json", copied(**changes))
    with pytest.raises(
        ConfigurationError, match="'get_weather' differs in more than words"
    ) as raised:
        apply_changes("v1", tools, path)
    assert said in str(raised.value)


WEATHER = "get_weather"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"tools": {"get_wether": {"name": "x"}}},
            "no tool 'get_wether' (did you mean 'get_weather'?); it has",
        ),
        (
            {"tools": {WEATHER: {"name": "find_train"}}},
            "'get_weather' would both be called 'find_train'",
        ),
        (
            {"tools": {WEATHER: {"parameters": {"town": {"name": "x"}}}}},
            "no parameter 'town'; it has 'city', 'unit'",
        ),
        (
            {"tools": {WEATHER: {"parameters": {"city": {"name": "unit"}}}}},
            "'city' and 'unit' would both be called 'unit'",
        ),
        (
            {"tools": {WEATHER: {"parameters": {"unit": {"enum": ["c"]}}}}},
            "get_weather.parameters.unit: 'enum' can't be changed",
        ),
        ({"tools": {WEATHER: {"returns": {}}}}, "tools.get_weather: 'returns' can't be changed"),
        ({"tools": {WEATHER: {"name": ""}}}, "tools.get_weather.name:"),
        ({"tools": {WEATHER: {"description": "The weather now."}}}, "Nothing is changed"),
        ({"tools": {WEATHER: {"description": {"xx": "?"}}}}, "is in 'xx'; the tool is in 'en'"),
        ({"tools": {}}, "tools:"),
        ({"tool": {}}, "There is no 'tool' beside tools"),
        (
            {"catalog": "x.json", "renamed": {}},
            "There is no 'renamed' beside catalog, format, renames, others",
        ),
        ({"catalog": "none.json"}, "none.json"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    tools: list[Tool], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        apply_changes("v1", tools, changes)
    assert said in str(raised.value)


def test_files_that_are_none_are_refused(tools: list[Tool], tmp_path: Path) -> None:
    file = tmp_path / "changed.yaml"
    for text, said in (
        (
            "tools: {get_weather: {name: a}, get_weather: {name: b}}",
            "tools.get_weather is stated twice",
        ),
        ("nothing", "says `tools:` or `catalog:`"),
        ("a: [", "says `tools:` or `catalog:`"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=said):
            apply_changes("v1", tools, file)
    with pytest.raises(ConfigurationError, match="can't be read"):
        apply_changes("v1", tools, tmp_path / "absent.yaml")
    for earlier in ("first", "always"):
        with pytest.raises(ConfigurationError, match=f"--tools-shown {earlier}"):
            apply_changes("v1", tools, Path(earlier))


def test_a_tool_of_two_languages_gets_its_words_by_language(tools: list[Tool]) -> None:
    both = [*tools, tools[0].with_changes(language="zh", description="天气")]
    with pytest.raises(
        ConfigurationError,
        match="'get_weather' in 'en', 'zh': give the description of get_weather by",
    ):
        apply_changes("v1", both, {"tools": {WEATHER: {"description": "Rain?"}}})
    shown = apply_changes(
        "v1", both, {"tools": {WEATHER: {"name": "weather", "description": {"en": "Rain?"}}}}
    )
    assert {tool.language: tool.description for tool in shown.tools.values()} == {
        "en": "Rain?",
        "zh": "天气",
    }
    assert {tool.name for tool in shown.tools.values()} == {"weather"}


def test_candidates_see_no_notes_of_ours(tools: list[Tool], tmp_path: Path) -> None:
    stated = json.loads(json.dumps(tools[0].parameters))
    stated["properties"]["city"]["description"] += f" {ToolNote('list_cities', '', 'name')}"
    noted = tools[0].with_changes(parameters=stated)
    assert ShownTools().toolset([noted]) == [tools[0]]
    shown = apply_changes(
        "v1", [noted], written(tmp_path / "c.json", copied(_unit={"description": "A unit."}))
    )
    [one] = changed_tools([noted], shown)
    assert "response" not in str(one.shown.signature)
    assert all("city" not in word.what for word in one.changed)
    with pytest.raises(ConfigurationError, match="Nothing is changed"):
        apply_changes("v1", [noted], written(tmp_path / "same.json", copied()))
