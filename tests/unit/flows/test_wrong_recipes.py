"""Wrong recipes and settings, each with its message to the letter: where it is, what was
probably meant, what there is.
"""

import json
from pathlib import Path

import jsonschema
import pytest

from callwright.flows.recipe import (
    explain,
    read_recipe,
    read_recipe_file,
    read_recipe_to_build,
    schema_text,
)
from callwright.flows.recipe.problems import TextPlace, read_yaml
from callwright.flows.recipe.schema import nearest
from callwright.flows.settings import read_settings
from callwright.llm.known_models import example_models
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from tests.support.flows.small_builds import run_here

TOP = Path(__file__).parents[3]
GOOD = "name: small\ntools: [{seed: all}]\nsamples: {perfect: 2}\n"
OF_SOURCES = "seed, "
OF_HTTP = (
    "include, exclude, rename, categories, constants, plumbing, catalog, values, sentences,"
    " environment, name, import, path, base_url, secrets, allow, tools, timeout, max_bytes"
)
MODEL_FORMS = (
    "a model is 'template/v1' (embedded), 'local/PATH.gguf' (in process), 'local_openai/MODEL' (a"
    " server on this machine, by api_base), or a litellm name"
    f" 'PROVIDER/MODEL' such as {example_models()['small']!r}"
)


def with_tools(source: str) -> str:
    return GOOD.replace("{seed: all}", source)


# What is wrong, and the message after the file's name; {{folder}} is where the recipe lies.
WRONG = {
    "a setting in the singular": (
        GOOD.replace("tools:", "tool:"),
        (
            "2:1: tool: there is no such setting; did you mean tools? The settings are name,"
            " description, seed, tools, languages, samples, "
        ),
    ),
    "a misspelt role": (
        GOOD + "models:\n  generater: template/v1\n",
        (
            "5:3: models.generater: there is no such setting here; did you mean generator? The"
            " settings of models are generator, checker, judge, assistant."
        ),
    ),
    "a setting of another place": (
        GOOD + "spot_checks: 5\n",
        "4:1: spot_checks: there is no such setting; it belongs to review. The settings are name, ",
    ),
    "a model's setting given to all roles": (
        GOOD + "models: {temperature: 1}\n",
        (
            "4:10: models.temperature: there is no such setting here; it belongs to"
            " models.generator. The settings of models are generator, checker, judge, assistant."
        ),
    ),
    "an import without a path": (
        with_tools("{import: openapi}"),
        (
            "2:9: tools[0].path: is missing: the file or folder to read tools from, or several,"
            " relative to the recipe."
        ),
    ),
    "an import of an unknown format": (
        with_tools("{import: opnapi, path: ./}"),
        (
            "2:18: tools[0].import: there is no catalog format 'opnapi'; did you mean openapi? The"
            " formats are bfcl, callnavi, hammerbench, mcp, openai, openapi."
        ),
    ),
    "an import of a file that is not there": (
        with_tools("{import: openapi, path: api.yaml}"),
        (
            "2:33: tools[0].path: there is no file or folder '{folder}/api.yaml'; paths are"
            " relative to the recipe."
        ),
    ),
    "an unknown environment": (
        with_tools("{environment: trvel}"),
        (
            "2:23: tools[0].environment: there is no environment 'trvel'; did you mean travel? The"
            " environments are travel, http, mcp, recorded, simulated."
        ),
    ),
    "a misspelt setting of an environment": (
        with_tools("{environment: http, import: openapi, paht: ./, base_url: 'http://x'}"),
        (
            "2:46: tools[0].paht: there is no such setting here; did you mean path? The settings"
            f" of tools[0] are {OF_HTTP}."
        ),
    ),
    "a source that nothing tells": (
        with_tools("{sede: all}"),
        (
            "2:10: tools[0].sede: there is no such setting here; did you mean seed? The settings"
            f" of tools[0] are {OF_SOURCES}"
        ),
    ),
    "a source that is only a word": (
        with_tools("seed"),
        (
            "2:9: tools[0]: must be a mapping of settings, not 'seed'. The settings of tools[0]"
            f" are {OF_SOURCES}"
        ),
    ),
    "a category that the catalog lacks": (
        with_tools("{seed: [Weather, Wether]}"),
        (
            "2:26: tools[0].seed[1]: there is no category in the seed catalog 'Wether'; did you"
            " mean Weather? The categories are "
        ),
    ),
    "a domain that there is not": (
        with_tools("{domains: [Bonk]}"),
        (
            "2:20: tools[0].domains[0]: there is no domain 'Bonk'; did you mean Bank? The domains"
            " are Airline, Bank, "
        ),
    ),
    "an unknown kind": (
        GOOD.replace("perfect: 2", "perfct: 2"),
        (
            "3:11: samples.perfct: there is no kind of sample 'perfct'; did you mean perfect? The"
            " kinds are perfect, imperfect, "
        ),
    ),
    "a count in words": (
        GOOD.replace("perfect: 2", "perfect: many"),
        "3:20: samples.perfect: must be a whole number, not 'many'.",
    ),
    "an unknown language": (
        GOOD + "languages: [en, xq]\n",
        (
            "4:17: languages[1]: there is no language 'xq'. The languages (a language model"
            " also takes any other ISO 639 code, such as fr or de) are en, es, zh."
        ),
    ),
    "a model without a provider": (
        GOOD + "models: {judge: gpt}\n",
        f"4:17: models.judge: there is no model 'gpt'; {MODEL_FORMS}.",
    ),
    "a share above one": (
        GOOD + "review: {spot_checks: 1.5}\n",
        (
            "4:23: review.spot_checks: must be a whole number or a number of at most 1 or a"
            " mapping, not 1.5."
        ),
    ),
    "a misspelt grade": (
        GOOD + "land: prooved\n",
        "4:7: land: must be 'judged' or 'proved', not 'prooved'; did you mean proved?",
    ),
    "no budget at all": (GOOD + "budget: 0\n", "4:9: budget: must be a number above 0, not 0."),
    "a prompt that there is not": (
        GOOD + "prompts: {write_requests: recipe.yaml}\n",
        (
            "4:11: prompts.write_requests: there is no prompt 'write_requests'; did you mean"
            " write_request? The prompts are "
        ),
    ),
    "a cron line in words": (
        GOOD + "schedule: {cron: sometimes}\n",
        "4:18: schedule.cron: 'sometimes' is not a cron line such as '0 3 * * *'.",
    ),
    "a candidate without a model": (
        GOOD + "candidates: [{label: a}]\n",
        "4:14: candidates[0].model: is missing: the model to score: its name or its settings.",
    ),
    "a key twice": (GOOD + "seed: 1\nseed: 2\n", "5:1: seed: occurs twice, first in line 4."),
    "a tab": (
        GOOD + "models:\n\tjudge: template/v1\n",
        "5:1: is not valid YAML: while scanning for the next token, found character",
    ),
    "nothing": ("", "1:1: must be a mapping of settings such as 'name: mine', but is empty."),
    "a list": (
        "- name: x\n",
        "1:1: must be a mapping of settings such as 'name: mine', but is a list.",
    ),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_recipe_is_answered_with_its_line_and_the_way_out(
    tmp_path: Path, text: str, message: str
) -> None:
    path = written(tmp_path, text)
    [problem] = read_recipe_file(path, with_files=True).problems
    expected = f"{path}:{message.format(folder=tmp_path)}"
    assert (
        str(problem).startswith(expected)
        if message.endswith((" ", "character"))
        else str(problem) == expected
    )
    with pytest.raises(ConfigurationError) as raised:
        read_recipe_to_build(path)
    assert str(raised.value) == str(problem), "builds say the same"


SETTINGS = {
    "CALLWRIGHT_WORKERS": (
        "many",
        "CALLWRIGHT_WORKERS is 'many'. It must be a number of processes, 'local', ",
    ),
    "CALLWRIGHT_PATIENCE": (
        "long",
        "The setting CALLWRIGHT_PATIENCE must be a number from 0 on, not 'long'.",
    ),
    "CALLWRIGHT_DUCKDB_MEMORY": (
        "2 apples",
        "The setting CALLWRIGHT_DUCKDB_MEMORY must be a size from 128MB on, such as ",
    ),
    "CALLWRIGHT_HOME": (
        __file__,
        (
            f"The work folder '{__file__}' can't be created: '{__file__}' is not a folder. Fix"
            " that, or set CALLWRIGHT_HOME "
        ),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_setting_is_named_with_the_way_out(name: str) -> None:
    given, message = SETTINGS[name]
    with pytest.raises(CallwrightError) as raised:
        read_settings({name: given})
    assert str(raised.value).startswith(message)


def test_all_mistakes_are_listed_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        GOOD.replace("perfect: 2", "perfct: 2, imperfect: -1")
        + "models: {generater: template/v1}\nland: all\nseed: x\n"
    )
    problems = read_recipe_file(written(tmp_path, text), with_files=True).problems
    assert [(one.line, one.place) for one in problems] == [
        (3, "samples.perfct"),
        (3, "samples.imperfect"),
        (4, "models.generater"),
        (5, "land"),
        (6, "seed"),
    ]
    with pytest.raises(
        ConfigurationError, match=r"^The recipe has 5 mistakes\.\n  .*:3:11: samples.perfct"
    ):
        read_recipe(tmp_path / "recipe.yaml")
    assert explain(problems).count("\n") == 5


def test_places_follow_anchors_and_merges() -> None:
    located = read_yaml("a: &one {x: 1}\nb:\n  <<: *one\n  y: 2\n")
    assert located.place_of(("b", "y")) == TextPlace(4, 6)
    assert located.place_of(("b", "x"), key=True) == TextPlace(1, 10)
    assert located.place_of(("b", "absent")) == TextPlace(2, 1)
    assert located.repeated == ()


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("tool", ["tools", "models"], "tools"),
        ("bank", ["Bank", "Store"], "Bank"),
        ("dance", ["tools", "seed"], ""),
    ],
)
def test_what_was_meant_is_the_likest_name_if_any_is_like_it(
    name: str, known: list[str], meant: str
) -> None:
    assert nearest(name, known) == meant


@pytest.mark.parametrize(
    "path", sorted((TOP / "recipes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_the_schema_holds_for_the_recipes_that_come_along(path: Path) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    assert list(validator.iter_errors(read_yaml(path.read_text(encoding="utf-8")).data)) == []


def test_the_schema_refuses_what_recipes_refuse_and_explains_each_setting() -> None:
    schema = json.loads(schema_text())
    refused = [
        "a setting in the singular",
        "a misspelt role",
        "an unknown kind",
        "an unknown language",
        "a count in words",
        "an import without a path",
        "an import of an unknown format",
        "a category that the catalog lacks",
        "a prompt that there is not",
        "a source that is only a word",
        "a misspelt grade",
    ]
    for name in refused:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(read_yaml(WRONG[name][0]).data, schema)
    owners = {"Recipe": schema, **schema["$defs"]}
    bare = [
        f"{owner}.{name}"
        for owner, one in owners.items()
        for name, node in one.get("properties", {}).items()
        if "description" not in node and (owner, name) != ("PromptFile", "text")
    ]
    assert bare == [], "what a setting means stands in its field"


def test_check_prints_json_and_ends_with_2(tmp_path: Path) -> None:
    path = written(tmp_path, WRONG["a setting in the singular"][0])
    done = run_here(
        "recipe", "check", str(path), str(TOP / "recipes" / "demo.yaml"), "--json", home=tmp_path
    )
    [problem] = json.loads(done.stdout)
    assert (done.returncode, problem["line"], problem["column"]) == (2, 2, 1)
    assert (problem["file"], problem["place"], problem["meant"]) == (str(path), "tool", "tools")
    fine = run_here("recipe", "check", str(TOP / "recipes" / "demo.yaml"), home=tmp_path)
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "", "Recipe is valid.\n")


def test_init_names_the_schema_in_the_first_line_and_writes_it(tmp_path: Path) -> None:
    assert run_here("init", str(tmp_path / "mine"), home=tmp_path).returncode == 0
    first = (tmp_path / "mine" / "recipe.yaml").read_text().splitlines()[0]
    name = first.removeprefix("# yaml-language-server: $schema=")
    written_schema = (tmp_path / "mine" / name).read_text()
    assert written_schema == run_here("recipe", "schema", home=tmp_path).stdout
    out = tmp_path / "other" / "schema.json"
    assert run_here("recipe", "schema", "--out", str(out), home=tmp_path).returncode == 0
    assert out.read_text() == written_schema
