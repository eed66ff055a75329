"""The seed catalog: what it holds, and what every entry must keep."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from callwright.generators.catalogs.own_catalogs import read_seed_folder, seed_tools
from callwright.warehouse.records import JsonSchema, Language, Tool

LANGUAGES: tuple[Language, ...] = ("en", "zh")
ENTRY = """
category: Pets
tools:
  - name: Pets.Walks.planWalk
    description: {en: Plan a walk.}
    parameters:
      time: {kind: time, description: {en: starting time}}
      pace: {enum: {en: [slow, brisk]}, description: {en: pace}}
    required: [time]
    returns:
      walk_id: {type: string, description: {en: walk number}}
"""
IN_CHINESE = """
texts:
  Plan a walk.: 安排遛狗。
  starting time: 出发时间
  pace: 速度
  Pets.Walks.planWalk: {slow|brisk: 慢走|快走}
"""

LANGUAGES = ("en", "zh")


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Language:
    return request.param


@pytest.fixture
def tools(language: Language) -> list[Tool]:
    return seed_tools((language,))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shared, pets = tmp_path / "kinds", tmp_path / "pets"
    shared.mkdir()
    pets.mkdir()
    (shared / "schemas.yaml").write_text(
        "time: {type: string, pattern: '^[0-2][0-9]:[0-5][0-9]$'}", encoding="utf-8"
    )
    (shared / "zh.yaml").write_text("texts: {walk number: 编号}", encoding="utf-8")
    (pets / "tools.yaml").write_text(ENTRY, encoding="utf-8")
    (pets / "zh.yaml").write_text(IN_CHINESE, encoding="utf-8")
    return tmp_path


def schemas_in(schema: JsonSchema) -> Iterator[JsonSchema]:
    """The schema and every schema inside it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from schemas_in(inner)
    if "items" in schema:
        yield from schemas_in(schema["items"])


def labelled(tools: list[Tool]) -> Iterator[tuple[str, JsonSchema]]:
    for tool in tools:
        for name, schema in tool.properties.items():
            yield f"{tool.name} {name} ({tool.language})", schema


def test_there_are_twenty_two_categories_of_seven_tools_or_more(tools: list[Tool]) -> None:
    counts = Counter(tool.category for tool in tools)
    assert len(counts) >= 22
    assert min(counts.values()) >= 7
    assert len(tools) >= 160


def test_both_languages_hold_the_same_tools_with_the_same_shape() -> None:
    english, chinese = seed_tools(("en",)), seed_tools(("zh",))
    assert [tool.name for tool in english] == [tool.name for tool in chinese]
    assert [tool.category for tool in english] == [tool.category for tool in chinese]
    assert [list(tool.properties) for tool in english] == [
        list(tool.properties) for tool in chinese
    ]
    assert [tool.required for tool in english] == [tool.required for tool in chinese]
    assert {tool.language for tool in english} == {"en"}
    spanish = {tool.name: tool for tool in seed_tools(("es",))}
    assert len(seed_tools()) == len(english) + len(chinese) + len(spanish)
    assert len({tool.category for tool in spanish.values()}) == 6
    alike = {tool.name: (list(tool.properties), tool.required) for tool in english}
    assert {
        name: (list(tool.properties), tool.required) for name, tool in spanish.items()
    }.items() <= alike.items()


def test_a_tools_name_is_dotted_and_unique_and_begins_with_its_category(tools: list[Tool]) -> None:
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        assert re.fullmatch(rf"{tool.category}\.[A-Z][A-Za-z]*\.[a-z][A-Za-z]*", tool.name)
        assert tool.source == "seed"


def test_every_schema_is_valid_json_schema(tools: list[Tool]) -> None:
    for tool in tools:
        Draft202012Validator.check_schema(tool.parameters)
        assert tool.returns is not None
        Draft202012Validator.check_schema(tool.returns)


def test_examples_choices_and_defaults_fit_their_own_schema(tools: list[Tool]) -> None:
    for _, parameter in labelled(tools):
        for schema in schemas_in(parameter):
            validator = Draft202012Validator(schema, format_checker=FormatChecker())
            shown = [*schema.get("examples", ()), *schema.get("enum", ())]
            shown += [schema["default"]] if "default" in schema else []
            assert [
                error.message for value in shown for error in validator.iter_errors(value)
            ] == []


def test_every_parameter_and_every_result_is_described(tools: list[Tool]) -> None:
    for tool in tools:
        for name, schema in {**tool.properties, **(tool.returns or {})["properties"]}.items():
            assert schema.get("description"), (tool.name, name)


def test_a_new_category_is_read_in_both_languages(folder: Path) -> None:
    english, chinese = read_seed_folder(folder)
    assert english.description == "Plan a walk."
    assert english.properties["time"]["pattern"] == "^[0-2][0-9]:[0-5][0-9]$"
    assert english.properties["pace"]["enum"] == ["slow", "brisk"]
    assert chinese.properties["pace"]["enum"] == ["慢走", "快走"]
    assert chinese.required == ("time",)


def test_every_shipped_tool_is_there_in_english_and_chinese() -> None:
    assert {tool.name for tool in seed_tools(("en",))} == {
        tool.name for tool in seed_tools(("zh",))
    }
