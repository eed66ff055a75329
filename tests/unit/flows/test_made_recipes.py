"""Recipes made in Python: of functions, models, records, documents, paths and sources, refused
in a file's own sentences.
"""

import doctest
from pathlib import Path
from typing import Any

import pytest
import yaml

from callwright.flows.api import building
from callwright.flows.api.building import make_recipe, read_recipe
from callwright.flows.recipe import CatalogTools, ImportedTools, OwnTools, Recipe, Roles, SeedTools
from callwright.flows.run.plan import build_key
from callwright.llm.models import ModelSettings
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool

PERFECT = {"perfect": 3}
TOOL = Tool(
    name="ring",
    description="Ring somebody.",
    parameters={"type": "object", "properties": {}},
    category="phone",
)


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return city


def test_each_way_to_state_a_tool_is_a_source(tmp_path: Path) -> None:
    api = tmp_path / "api.yaml"
    api.write_text("openapi: 3.1.0\npaths: {}\n")
    listed = tmp_path / "tools.json"
    listed.write_text('[{"name": "go", "parameters": {"type": "object"}}]')
    tools: list[Any] = [
        get_weather,
        api,
        TOOL,
        listed,
        {"seed": ["Weather"]},
        CatalogTools(catalog="mine"),
        {"name": "go", "description": "Go."},
    ]
    recipe = make_recipe("mine", tools=tools, samples=PERFECT)
    assert [type(source) for source in recipe.tools] == [
        OwnTools,
        ImportedTools,
        ImportedTools,
        SeedTools,
        CatalogTools,
    ]
    [own, imported, listing, *_] = recipe.tools
    assert isinstance(imported, ImportedTools)
    assert isinstance(listing, ImportedTools)
    assert isinstance(own, OwnTools)
    assert (imported.format, imported.path, listing.format) == ("openapi", api, "openai")
    assert [tool.name for tool in own.own] == ["get_weather", "ring", "go"]


def test_settings_are_those_of_a_file(tmp_path: Path) -> None:
    settings = {
        "seed": 7,
        "languages": ["en", "zh"],
        "models": {"generator": "openai/gpt-x"},
        "land": "proved",
    }
    path = tmp_path / "recipe.yaml"
    stated = {
        "name": "mine",
        "tools": [{"own": [TOOL.model_dump()]}],
        "samples": PERFECT,
        **settings,
    }
    path.write_text(yaml.safe_dump(stated))
    made = make_recipe("mine", tools=[TOOL], samples=PERFECT, **settings)
    assert made == read_recipe(path)
    roles = Roles(generator=ModelSettings(name="openai/gpt-x"))
    assert (
        make_recipe("mine", tools=[TOOL], samples=PERFECT, **settings | {"models": roles}) == made
    )


def test_tools_of_a_recipe_survive_its_being_kept_and_name_the_build() -> None:
    recipe = make_recipe("mine", tools=[get_weather], samples=PERFECT)
    assert Recipe.model_validate_json(recipe.model_dump_json(by_alias=True)) == recipe
    [own] = recipe.tools
    assert isinstance(own, OwnTools)
    assert build_key(recipe, own.own) != build_key(recipe, [TOOL])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"samples": {"perfekt": 3}},
            "there is no kind of sample 'perfekt'; did you mean perfect?",
        ),
        ({"sead": 3}, "sead: there is no such setting; did you mean seed?"),
        ({"tools": [3]}, "tools[0]: must be a mapping"),
        ({"tools": []}, "tools: must not be empty"),
        (
            {"tools": [{"name": "go", "parameters": 3}]},
            "tools[0].own[0]: The tool 'go' can't be used: The parameters are 3",
        ),
        (
            {"tools": [Path("absent.json")]},
            "The tools in 'absent.json' can't be read: No such file or directory.",
        ),
        ({"name": "Mine!"}, "name: must match the pattern"),
    ],
)
def test_what_is_wrong_is_told_as_of_a_file(changes: dict[str, Any], words: str) -> None:
    stated: dict[str, Any] = {"name": "mine", "tools": [TOOL], "samples": PERFECT}
    with pytest.raises(ConfigurationError) as raised:
        make_recipe(**stated | changes)
    assert words in str(raised.value)


def test_the_examples_of_the_docstrings_are_true() -> None:
    assert doctest.testmod(building) == (0, 9)
