"""What `callwright` alone proposes in a work folder."""

from pathlib import Path
from typing import Any

import pytest

from callwright.flows.next_step import RecipeFile, find_recipes, next_step, step_for
from callwright.flows.recipe import write_first_recipe
from callwright.warehouse.releases import create_release
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe, warehouse_of

PLAIN = {
    "landed": 0,
    "waiting": 0,
    "unpushed": 0,
    "releases": 0,
    "newest": None,
    "is_newer": None,
    "evaluated": 0,
    "unfinished": None,
}
MINE = [RecipeFile(Path("mine/recipe.yaml"), "first"), RecipeFile(Path("other.yaml"), "other")]
DONE = {"landed": 3, "releases": 1, "newest": "v1"}


@pytest.mark.parametrize(
    ("there", "recipes", "command"),
    [
        ({}, MINE, "callwright build mine/recipe.yaml"),
        ({}, [], "callwright init mine"),
        ({"unfinished": "other", "landed": 3}, MINE, "callwright build other.yaml"),
        ({"unfinished": "elsewhere", "landed": 3}, MINE, "callwright release create v1"),
        ({"landed": 3, "waiting": 2, "unpushed": 2}, MINE, "callwright review serve"),
        ({"landed": 3}, [], "callwright release create v1"),
        (DONE | {"is_newer": True}, [], "callwright release create v2"),
        (DONE | {"is_newer": False}, [], "callwright evaluate v1 --model template/v1"),
        (DONE | {"waiting": 1, "evaluated": 9}, [], "callwright review pull"),
        (DONE | {"evaluated": 9}, [], "callwright view"),
    ],
)
def test_the_next_step_follows_from_what_there_is(
    there: dict[str, Any], recipes: list[RecipeFile], command: str
) -> None:
    assert (
        step_for(PLAIN | there, recipes, ["v1"] if "releases" in there else []).command == command
    )


def test_a_folder_goes_from_nothing_over_a_recipe_to_a_build(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / ".callwright")
    assert next_step(tmp_path, settings).command == "callwright init mine"
    write_first_recipe(tmp_path / "mine")
    assert next_step(tmp_path, settings).command == "callwright build mine/recipe.yaml --preview 5"
    build(unmeasured_recipe(samples={"perfect": 2}, review={"spot_checks": 0}), settings)
    assert next_step(tmp_path, settings).command == "callwright release create v1"
    create_release(warehouse_of(settings), "v1")
    assert next_step(tmp_path, settings).command == "callwright evaluate v1 --model template/v1"


def test_recipes_are_found_in_a_folder_and_one_level_below_and_nothing_else_is_taken_for_one(
    tmp_path: Path,
) -> None:
    for place in ("b", ".hidden", "deep/er"):
        write_first_recipe(tmp_path / place)
    (tmp_path / "own.yaml").write_text('name: "own"\ntools: [{seed: all}]\nsamples: {perfect: 2}\n')
    (tmp_path / "api.yaml").write_text("openapi: 3.0.0\ninfo: {name: no}\n")
    (tmp_path / "folder.yaml").mkdir()
    assert [*find_recipes(tmp_path)] == [
        RecipeFile(Path("b/recipe.yaml"), "first"),
        RecipeFile(Path("own.yaml"), "own"),
    ]
