"""Recipes: what is accepted, and how what is wrong is named."""

from pathlib import Path

import pytest

from flows.importing import gather_tools
from flows.recipe import Recipe, read_recipe, write_first_recipe
from warehouse.errors import ConfigurationError

TOP = Path(__file__).parents[3]
GOOD = "name: small\ntools: [{seed: all}]\nsamples: {perfect: 2}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted((TOP / "recipes").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_recipes_that_come_along_can_be_read(path: Path) -> None:
    assert read_recipe(path).name


def test_the_first_recipe_is_written_once_and_can_be_read(tmp_path: Path) -> None:
    assert read_recipe(write_first_recipe(tmp_path)).languages == ("en", "zh")
    with pytest.raises(ConfigurationError, match="exists"):
        write_first_recipe(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("speed: 9\n", r"wrong at speed: Extra inputs.*The settings are"),
        ("models: {generator: gpt}\n", r"wrong at models\.generator\.name: .*no model 'gpt'"),
        ("languages: [fr]\n", r"wrong at languages: .*no language .fr."),
        ("budget: -1\n", r"wrong at budget"),
        ("candidates: [{label: a, model: template/v1}, {label: a, model: template/v1}]\n", r"same label"),
        ("schedule: {cron: sometimes}\n", r"wrong at schedule\.cron"),
        ("name: [\n", r"is not YAML"),
        ("- 1\n", r"is not YAML|must be a mapping"),
    ],
)
def test_a_wrong_recipe_is_answered_with_the_place(tmp_path: Path, change: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_recipe(written(tmp_path, GOOD + change))


def test_a_missing_recipe_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent\.yaml"):
        read_recipe(tmp_path / "absent.yaml")


def test_paths_are_relative_to_the_recipe(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, GOOD.replace("[{seed: all}]", "[{import: openai, path: tools.json}]")))
    with pytest.raises(ConfigurationError, match=str(tmp_path / "tools.json")):
        gather_tools(recipe)


def test_an_unknown_seed_category_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, GOOD.replace("seed: all", "seed: [Weather, Dreams]")))
    with pytest.raises(ConfigurationError, match=r"no categories \['Dreams'\]; it has Banking"):
        gather_tools(recipe)


def test_a_recipe_can_be_kept_and_read_again(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, GOOD))
    assert Recipe.model_validate_json(recipe.model_dump_json(by_alias=True)) == recipe
