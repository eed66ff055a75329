"""What tools allow is told before anything is built, and is what a build then finds."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.planning.possible import Constant, constants_to_fix, survey_recipe
from callwright.flows.recipe import Recipe, parse_recipe, read_recipe
from callwright.generators.environments.protocol import Environment
from callwright.generators.families import Family, Kind, LeftOut, Order
from callwright.generators.kinds import FAMILIES, kind_named
from callwright.generators.stages import StageContext, Step, in_a_row
from callwright.warehouse.records import Derivation, Origin, Sample, Tool
from tests.integration.generators.environments.test_mcp import SHOP
from tests.support.flows.small_builds import TOP, build, run_here, settings_of
from tests.support.generators.environments.fixtures import shop

__all__ = ["shop"]  # a fixture

TEXT = {"type": "string"}
TOWN = {"environment": "simulated", "import": "openapi", "path": "docs/first-dataset/library.yaml"}
KINDS = dict.fromkeys(
    ("perfect", "imperfect", "sQsA", "mQmA", "SO_case1", "parallel", "routing_hard", "multi_step"),
    3,
)


def tool(name: str, *required: str, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {**dict.fromkeys(required, TEXT), **more},
        "required": [*required, *more],
    }
    return {
        "name": name,
        "description": f"Do {name} for people.",
        "category": "Home",
        "parameters": schema,
    }


TOOLS = [
    tool("ring_bell"),
    tool("open_door", "room"),
    tool("paint_wall", "colour", "place"),
    tool("move_desk", "owner", "floor"),
    tool("fill_form", "title", letter={"type": "string", "minLength": 9000}),
]


def recipe(samples: dict[str, int], tools: list[dict[str, Any]] = TOOLS) -> Recipe:
    stated = {
        "name": "possible",
        "tools": [{"own": tools}],
        "languages": ["en"],
        "samples": samples,
    }
    return parse_recipe(stated, Path(), "possible")


async def test_each_tool_and_kind_has_its_reason(tmp_path: Path) -> None:
    found = await survey_recipe(recipe(KINDS), settings_of(tmp_path))
    reasons = {(one.kind, one.tool): one.reason for one in found.left_out}
    assert "requires nothing" in reasons["imperfect", "ring_bell"]
    assert "imperfect" in reasons["sQsA", "ring_bell"]
    assert "1 question" in reasons["mQmA", "open_door"]
    assert "9000 characters" in reasons["parallel", "fill_form"]
    assert ("parallel", "open_door") not in reasons
    rows = {row.kind: row for row in found.rows()}
    assert (rows["perfect"].usable, rows["parallel"].usable, rows["mQmA"].usable) == (4, 3, 2)
    assert {kind for kind, row in rows.items() if not row.usable} == {"routing_hard", "multi_step"}
    assert found.impossible == 6


def test_what_most_tools_require_is_offered_as_a_constant() -> None:
    tools = [
        Tool(
            name=f"do{at}",
            description="Do.",
            category="A",
            parameters={
                "type": "object",
                "properties": {"tenant": TEXT, "at": TEXT},
                "required": ["tenant", *(["at"] if at < 2 else [])],
            },
        )
        for at in range(6)
    ]
    assert constants_to_fix(tools) == [Constant("tenant", 6)]
    assert "constants: {tenant: …}" in Constant("tenant", 6).sentence(6)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text(
        json.dumps(
            [
                {
                    "type": "function",
                    "function": {key: one[key] for key in one if key != "category"},
                }
                for one in TOOLS
            ]
        )
    )
    return tmp_path


def test_recipe_check_tells_what_can_not_be_had_and_is_no_mistake(written: Path) -> None:
    text = (
        "name: few\ntools: [{import: openai, path: tools.json}]\nsamples:\n  perfect: 2\n "
        " multi_step: 4\n"
    )
    (written / "recipe.yaml").write_text(text)
    done = run_here("recipe", "check", str(written / "recipe.yaml"), home=written / "home")
    assert done.returncode == 0
    assert "recipe.yaml:5:3: samples.multi_step: 4 of 4 can't be planned: " in done.stdout
    assert "4 of 6 samples can't be planned" in done.stdout


def test_recipe_check_proposes_the_name_that_was_meant(written: Path) -> None:
    text = (
        "name: few\ntools: [{import: openai, path: tools.json, include: [paint_walls]}]\nsamples:"
        " {perfect: 2}\n"
    )
    (written / "recipe.yaml").write_text(text)
    done = run_here(
        "recipe", "check", str(written / "recipe.yaml"), "--json", home=written / "home"
    )
    assert done.returncode == 2
    (problem,) = json.loads(done.stdout)
    assert "did you mean paint_wall?" in problem["message"]


def test_tools_check_knows_a_file_by_what_is_in_it(written: Path) -> None:
    home = written / "home"
    shown = run_here("tools", "check", str(written / "tools.json"), home=home)
    assert shown.returncode == 0, shown.stderr
    assert "parallel" in shown.stdout
    found = json.loads(
        run_here(
            "tools", "check", "openai", str(written / "tools.json"), "--json", home=home
        ).stdout
    )
    rows = {row["kind"]: (row["usable"], row["tools"]) for row in found["kinds"]}
    assert (rows["perfect"], rows["parallel"], rows["multi_step"]) == ((4, 5), (3, 5), (0, 5))
    one = run_here("tools", "check", str(written / "tools.json"), "--tool", "ring_bell", home=home)
    assert "It requires nothing" in one.stdout
    wrong = run_here("tools", "check", str(written / "tools.json"), "--tool", "ring_bel", home=home)
    assert (wrong.returncode, "did you mean ring_bell" in wrong.stderr) == (2, True)
    nothing = run_here("tools", "check", "nowhere.yaml", home=home)
    assert (
        nothing.returncode,
        "No file, folder or catalog is named 'nowhere.yaml'" in nothing.stderr,
    ) == (2, True)


def live_recipe(folder: Path, source: dict[str, Any]) -> Path:
    path = folder / "recipe.yaml"
    samples = {"perfect": 2, "imperfect": 2, "multi_step": 2}
    path.write_text(json.dumps({"name": "live", "tools": [source], "samples": samples}))
    return path


def told_by_check(path: Path) -> tuple[int, str]:
    done = run_here("recipe", "check", str(path), home=path.parent / "home")
    assert not (path.parent / "home" / "responses.sqlite").exists(), "nothing is explored"
    return done.returncode, done.stdout


def test_of_a_live_server_its_list_tells_what_is_possible_and_no_tool_is_called(
    tmp_path: Path,
) -> None:
    log = tmp_path / "asked.log"
    source = {
        "environment": "mcp",
        "command": ["env", f"SHOP_LOG={log}", *SHOP],
        "allow": ["*"],
        "exclude": ["list_*"],
    }
    status, told = told_by_check(live_recipe(tmp_path, source))
    assert status == 0
    assert "No tool of mcp was called" in told
    assert "samples.multi_step: 2 of 2 can't be planned: " in told
    assert [line.split()[1] for line in log.read_text().splitlines()] == ["started"]

    command = shlex.join(SHOP)
    found = json.loads(
        run_here("tools", "check", "--server", command, "--json", home=tmp_path / "home").stdout
    )
    rows = {row["kind"]: (row["usable"], row["tools"]) for row in found["kinds"]}
    assert rows["perfect"] == (7, 8)  # nothing tells what a tenant is called
    assert rows["imperfect"][0] < rows["perfect"][0], "two tools require nothing"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"command": ["nonesuch"]}, "there is no command 'nonesuch'"),
        ({"command": ["env"], "secrets": {"KEY": "NOT_SET_API_KEY"}}, "NOT_SET_API_KEY is not set"),
    ],
)
def test_a_server_that_is_away_is_told_and_is_no_mistake(
    more: dict[str, Any], told: str, tmp_path: Path
) -> None:
    status, said = told_by_check(live_recipe(tmp_path, {"environment": "mcp", **more}))
    assert (status, told in said) == (0, True)


async def test_nothing_is_claimed_of_kinds_whose_sources_only_a_build_shows(tmp_path: Path) -> None:
    """Of a path, or of turns that were merged, the tool alone does not decide what can be made."""
    stated = {"name": "possible", "tools": [TOWN], "languages": ["en"]}
    asked = {
        "task": 4,
        "tool_error": 4,
        "multi_step": 4,
        "multi_step_SO_case1": 4,
        "mQmA": 4,
        "mQmA_external": 4,
    }
    found = await survey_recipe(
        parse_recipe({**stated, "samples": asked}, Path(), "possible"), settings_of(tmp_path)
    )
    rows = {row.kind: row for row in found.rows()}
    assert {kind for kind, row in rows.items() if row.possible < row.asked} == set()
    assert {kind for kind, row in rows.items() if not row.is_known} == {
        "tool_error",
        "multi_step_SO_case1",
        "mQmA_external",
    }


async def test_where_no_task_can_be_planned_nothing_made_from_tasks_can_be(tmp_path: Path) -> None:
    found = await survey_recipe(
        recipe({"perfect": 2, "task": 3, "tool_error": 3}), settings_of(tmp_path)
    )
    rows = {row.kind: row for row in found.rows()}
    assert (rows["task"].usable, rows["tool_error"].usable, rows["tool_error"].possible) == (
        0,
        0,
        0,
    )
    assert "task" in rows["tool_error"].reason
    assert found.impossible == 6


async def test_no_more_is_promised_than_of_what_a_kind_is_made_from(tmp_path: Path) -> None:
    """Tasks are planned by category: tools of a category without any count for no kind."""
    asked = {"task": 4, "tool_error": 4, "live_task": 4}
    stated = {"name": "possible", "tools": [TOWN], "languages": ["en"], "samples": asked}
    survey = await survey_recipe(parse_recipe(stated, Path(), "possible"), settings_of(tmp_path))
    category = survey.tools[0].category
    closed = LeftOut("task", "No tool changes anything.", "en", category, samples=1)
    rows = {row.kind: row for row in survey._replace(left_out=(closed,)).rows()}
    there = sum(tool.category != category for tool in survey.tools)
    assert {row.usable for row in rows.values()} == {there}
    assert there < len(survey.tools)


GERMAN = {
    "openapi": "3.0.0",
    "info": {"title": "Stellensuche"},
    "paths": {
        "/stellen/{referenz}": {
            "get": {
                "operationId": "stelle",
                "summary": "Die Details einer Stelle anzeigen.",
                "description": "Zeigt die Details einer Stelle mit ihrer Referenz an.",
                "parameters": [
                    {
                        "name": "referenz",
                        "in": "path",
                        "required": True,
                        "description": "Die Referenz der Stelle, die gesucht wird.",
                        "schema": {"type": "string"},
                    }
                ],
                "responses": {"200": {"description": "Die Stelle."}},
            }
        }
    },
}


def test_what_the_template_can_not_word_is_told_before_anything_is_planned(tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps(GERMAN))
    asked = {"name": "de", "tools": [{"import": "openapi", "path": "api.json"}]}
    asked |= {"languages": ["de"], "samples": {"perfect": 4, "sQsA": 2}}
    path = tmp_path / "recipe.yaml"
    path.write_text(json.dumps(asked))
    home = tmp_path / "home"
    built = run_here("build", str(path), "--no-review", home=home)
    assert built.returncode == 2
    assert "template/v1 writes English" in built.stderr
    assert "not German" in built.stderr
    checked = run_here("recipe", "check", str(path), home=home)
    assert "samples.perfect: 4 of 4 can't be planned: template/v1 writes" in checked.stdout
    shown = run_here("tools", "check", str(tmp_path / "api.json"), "--json", home=home)
    told = json.loads(shown.stdout)
    assert {row["usable"] for row in told["kinds"]} == {0}
    assert any("not German" in one["reason"] for one in told["tried"])


def test_tools_check_makes_a_sample_of_each_kind_and_tells_what_landed(tmp_path: Path) -> None:
    path = TOP / "docs" / "first-dataset" / "library.yaml"
    home = tmp_path / "home"
    told = json.loads(run_here("tools", "check", str(path), "--json", home=home).stdout)
    tried = {one["kind"]: one for one in told["tried"]}
    assert [*tried] == [row["kind"] for row in told["kinds"]]
    assert all(bool(one["landed"]) != bool(one["reason"]) for one in tried.values())
    assert {"perfect", "imperfect", "multi_step", "task"} <= {
        kind for kind, one in tried.items() if one["landed"]
    }
    assert not (home / "warehouse.duckdb").exists(), "nothing of it is kept"
    untried = run_here("tools", "check", str(path), "--no-samples", home=home)
    assert "none landed" not in untried.stdout


async def copy_again(derivation: Derivation, _context: StageContext) -> list[Sample]:
    origin = Origin(stage="again", parents=(derivation.key,), seed=derivation.seed)
    return [derivation.source.with_changes(kind="again", origin=origin)]


def again(*sources: str, obstacle: Any = lambda _sample, _tools: "", **more: Any) -> Family:
    """A family of somebody else's whose kind is made from these kinds."""
    traits = replace(kind_named(sources[0]).traits, is_changed=True)
    kind = Kind("again", "a sample once more", "again", traits, "again", sources)
    stages = in_a_row("again", "Derivation", Step("again", "Copy it.", "Sample", "", copy_again))
    return Family("again", (kind,), stages, obstacles={"again": obstacle}, **more)


@pytest.mark.parametrize("source", ["task", "multi_step", "parallel"])
async def test_nothing_is_claimed_of_a_foreign_kind_before_a_build(
    source: str, tmp_path: Path
) -> None:
    stated = {"name": "possible", "tools": [TOWN], "samples": {source: 4, "again": 4}}
    with FAMILIES.including(again(source)):
        asked = parse_recipe({**stated, "languages": ["en"]}, Path(), "possible")
        rows = {row.kind: row for row in (await survey_recipe(asked, settings_of(tmp_path))).rows()}
    assert (rows["again"].possible, rows["again"].is_known) == (4, False)


async def test_a_foreign_kind_says_of_which_tools_it_is_not_made(tmp_path: Path) -> None:
    def tool_obstacle(_order: Order, tool: Tool) -> str:
        return "It rings." if tool.name == "ring_bell" else ""

    with FAMILIES.including(again("perfect", tool_obstacle=tool_obstacle)):
        found = await survey_recipe(recipe({"perfect": 2, "again": 2}), settings_of(tmp_path))
        rows = {row.kind: row for row in found.rows()}
    assert (rows["again"].usable, rows["again"].is_known) == (3, True)
    reasons = {one.tool: one.reason for one in found.left_out if one.kind == "again"}
    assert reasons["ring_bell"] == "It rings."
    assert reasons.keys() == {"ring_bell", "fill_form"}


def test_an_obstacle_may_ask_the_world(tmp_path: Path) -> None:
    asked_of: list[set[str]] = []

    def obstacle(sample: Sample, _tools: Any, environments: Mapping[str, Environment]) -> str:
        asked_of.append({*environments})
        return "" if sample.facts.environment in environments else "Its world is not there."

    depot = read_recipe(TOP / "recipes" / "faults.yaml")
    with FAMILIES.including(again("task", obstacle=obstacle)):
        asked = depot.model_copy(update={"samples": {"task": 3, "again": 1}})
        report = build(asked, settings_of(tmp_path))
    assert asked_of
    assert all(asked_of)
    assert not [one for one in report.left_out if one.kind == "again"]
