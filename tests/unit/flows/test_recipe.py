"""Recipes: what is accepted, and how what is wrong is named."""

from pathlib import Path

import pytest

from callwright.flows.catalogs import gather_tools
from callwright.flows.recipe import Recipe, read_recipe, write_first_recipe
from callwright.flows.recipe.problems import read_yaml
from callwright.flows.run.plan import build_key
from callwright.flows.stages import todays_checks
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.store import Warehouse

TOP = Path(__file__).parents[3]
GOOD = "name: small\ntools: [{seed: all}]\nsamples: {perfect: 2}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "path", sorted((TOP / "recipes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_the_recipes_that_come_along_can_be_read(path: Path) -> None:
    assert read_recipe(path).name


def test_the_first_recipe_is_written_once_and_can_be_read(tmp_path: Path) -> None:
    assert read_recipe(write_first_recipe(tmp_path)).languages == ("en", "zh")
    with pytest.raises(ConfigurationError, match="exists"):
        write_first_recipe(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("speed: 9\n", r":4:1: speed: there is no such setting.*The settings are"),
        ("models: {generator: gpt}\n", r":4:\d+: models\.generator: .*no model 'gpt'"),
        ("languages: [xq]\n", r":4:13: languages\[0\]: .*no language .xq."),
        ("budget: -1\n", r":4:9: budget: "),
        (
            "candidates: [{label: a, model: template/v1}, {label: a, model: template/v1}]\n",
            r"same label",
        ),
        ("schedule: {cron: sometimes}\n", r":4:18: schedule\.cron: "),
        ("name: [\n", r"is not valid YAML"),
        ("- 1\n", r"is not valid YAML"),
    ],
)
def test_a_wrong_recipe_is_answered_with_the_place(tmp_path: Path, change: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_recipe(written(tmp_path, GOOD + change))


def test_paths_are_relative_to_the_recipe(tmp_path: Path) -> None:
    recipe = read_recipe(
        written(tmp_path, GOOD.replace("[{seed: all}]", "[{import: openai, path: tools.json}]"))
    )
    with pytest.raises(ConfigurationError, match=str(tmp_path / "tools.json")):
        gather_tools(recipe, Warehouse(tmp_path / "w.duckdb"))


def test_a_seed_category_that_the_language_lacks_is_answered_with_the_known_ones(
    tmp_path: Path,
) -> None:
    recipe = Recipe.model_validate(
        {"name": "x", "tools": [{"seed": ["Dreams"]}], "samples": {"perfect": 1}}
    )
    with pytest.raises(ConfigurationError, match=r"no categories \['Dreams'\]. It has Banking"):
        gather_tools(recipe, Warehouse(tmp_path / "w.duckdb"))


OWN = "--- system\nSpeak like a sailor.\n--- user\n{{ tasks | json }} {{ language }} {{ seed }}\n"


def test_a_recipe_brings_prompts_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "sailor.j2").write_text(OWN, encoding="utf-8")
    recipe = read_recipe(written(tmp_path, GOOD + "prompts: {write_request: sailor.j2}\n"))
    assert recipe.own_prompts == {"write_request": OWN}
    assert (
        Recipe.model_validate_json(recipe.model_dump_json(by_alias=True)).own_prompts
        == recipe.own_prompts
    )
    assert build_key(recipe, []) != build_key(recipe.model_copy(update={"prompts": {}}), [])
    plain = read_recipe(written(tmp_path, GOOD))
    assert build_key(recipe.model_copy(update={"prompts": {}}), []) == build_key(plain, [])


def test_prompts_of_checks_are_versions_of_checks() -> None:
    own = {"judge_calls": OWN}
    assert todays_checks(own)["meaning"] != todays_checks({})["meaning"]
    assert todays_checks(own)["format"] == todays_checks({})["format"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "write_requests",
            OWN,
            (
                r"prompts\.write_requests: there is no prompt 'write_requests'; did you mean"
                r" write_request\? The prompts are"
            ),
        ),
        ("write_request", None, r"prompts\.write_request: .*own\.j2' can't be read: No such file"),
        (
            "write_request",
            "--- user\n{{ toll.name }}\n",
            r"asks for toll; its values are language, seed, tasks",
        ),
        ("write_request", "--- user\n{{ tool.name\n", r"line 2 is not Jinja"),
        ("write_request", "Hello {{ tool.name }}\n", r"has no '--- user' line"),
        ("write_request", "--- system\nOnly this.\n", r"has no '--- user' line"),
    ],
)
def test_what_is_wrong_with_a_prompt_is_named(
    tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    if text is not None:
        (tmp_path / "own.j2").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=said):
        read_recipe(written(tmp_path, GOOD + f"prompts: {{{name}: own.j2}}\n"))


@pytest.mark.parametrize(
    ("spot_checks", "by_grade", "of_40"),
    [
        ("20", {("judged", "proved"): 20}, 20),
        ("0.05", {("judged", "proved"): 0.05}, 2),
        ("{proved: 3, judged: 0.5}", {("proved",): 3, ("judged",): 0.5}, 23),
        ("{judged: 1.0}", {("judged",): 1.0}, 40),
    ],
)
def test_spot_checks_are_a_number_or_a_share_for_all_or_for_each_grade(
    tmp_path: Path, spot_checks: str, by_grade: dict[tuple[str, ...], float], of_40: int
) -> None:
    text = (
        "name: x\ntools: [{seed: all}]\nsamples: {perfect: 1}\nreview: {spot_checks:"
        f" {spot_checks}}}\n"
    )
    rules = read_recipe(written(tmp_path, text)).review
    assert rules.spot_checks_by_grade() == by_grade
    assert rules.spot_checks_among(40) == of_40


@pytest.mark.parametrize(
    "line", ["land: vouched", "review: {spot_checks: 1.5}", "review: {spot_checks: {open: 3}}"]
)
def test_a_grade_or_a_share_that_there_is_not_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigurationError, match=r":4:\d+: (land|review\.spot_checks)"):
        read_recipe(
            written(tmp_path, f"name: x\ntools: [{{seed: all}}]\nsamples: {{perfect: 1}}\n{line}\n")
        )


@pytest.mark.parametrize(
    "stated", ["on", "On", "{mode: on}", "{mode: On, vault: v.jsonl}", "true", "{mode: true}"]
)
def test_personal_data_is_on_however_the_word_is_read(stated: str, tmp_path: Path) -> None:
    text = f"name: mine\nsamples: {{perfect: 1}}\ntools: [{{seed: all}}]\npersonal_data: {stated}\n"
    assert read_recipe(written(tmp_path, text)).personal_data.mode == "on"


def test_on_off_yes_and_no_are_words_and_true_and_false_are_not() -> None:
    text = "a: [on, Off, yes, NO, 'yes']\non: &x {b: no}\nc: *x\nd: [true, False]\ntrial: yes"
    assert read_yaml(text).data == {
        "a": ["on", "Off", "yes", "NO", "yes"],
        "on": {"b": "no"},
        "c": {"b": "no"},
        "d": [True, False],
        "trial": "yes",
    }


def test_words_in_a_file_of_values_stay_words(tmp_path: Path) -> None:
    (tmp_path / "states.yaml").write_text("- on\n- off\n", encoding="utf-8")
    text = (
        "name: mine\nsamples: {perfect: 1}\ntools: [{seed: all}]\nvalues: {state: states.yaml,"
        " light: [on, off]}\n"
    )
    recipe = read_recipe(written(tmp_path, text))
    assert [one.entries for one in recipe.values.values()] == [("on", "off")] * 2
