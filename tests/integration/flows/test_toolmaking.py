"""Making tools for a recipe: once, checked, and without what waits for people."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Recipe
from callwright.flows.run.plan import open_build
from callwright.flows.settings import Settings
from callwright.flows.stages import stages_of
from callwright.flows.toolmaking import (
    PLANS_A_SHARD,
    find_problems,
    make_tools,
    report_tools,
    toolset_of,
)
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool
from tests.support.flows.model_server import ModelServer
from tests.support.flows.small_builds import (
    build,
    one,
    row_counts,
    settings_of,
    stub_roles,
    unmeasured_recipe,
    warehouse_of,
)

COUNT = 11
CATEGORIES = ["Clock", "Weather"]


def making(**changes: Any) -> Recipe:
    line = {"generate": CATEGORIES, "tools_per_category": COUNT}
    return unmeasured_recipe(
        **{"tools": [line], "shard_size": 1, "samples": {"perfect": 4, "irrelevant": 2}} | changes
    )


def make(
    recipe: Recipe, settings: Settings, progress: SilentProgress | None = None
) -> tuple[Tool, ...]:
    source: Any = recipe.tools[0]
    return asyncio.run(make_tools(source, recipe, settings, progress or SilentProgress()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = settings_of(tmp_path_factory.mktemp("made"))
    make(making(), settings)
    return settings


@pytest.fixture
def workshop(made: Settings, tmp_path: Path) -> Settings:
    """A work folder of the test's own with a toolset in it."""
    shutil.copytree(made.home, tmp_path / "home")
    return settings_of(tmp_path / "home")


def test_every_tool_is_used_or_waits_for_people_and_nothing_is_lost(workshop: Settings) -> None:
    warehouse = warehouse_of(workshop)
    funnel = {row["stage"]: row for row in warehouse.rows("select * from toolset_funnel")}
    assert list(funnel) == [
        stage.name for group in ("toolset", "toolset_checks") for stage in stages_of(group)
    ]
    for row in funnel.values():
        assert row["entered"] == row["passed"] + row["rejected"] + row["failed"] + row["waiting"]
    assert funnel["tool_descriptions"]["entered"] == COUNT * len(CATEGORIES) * 2
    assert funnel["tool_complexity"]["entered"] == one(workshop, "select count(*) from made_tools")
    assert funnel["tool_redundancy"]["entered"] == funnel["tool_complexity"]["passed"]
    assert funnel["tool_review"]["entered"] == funnel["tool_redundancy"]["passed"]
    asked = one(workshop, "select count(*) from review_requests where kind = 'tool_review'")
    assert asked == sum(row["waiting"] for row in funnel.values()) > 0
    usable = make(making(), workshop)
    assert len(usable) == funnel["tool_review"]["passed"]
    assert {(tool.category, tool.language) for tool in usable} == {
        (category, language) for category in CATEGORIES for language in ("en", "zh")
    }


def test_what_waits_is_what_a_check_did_not_prove(workshop: Settings) -> None:
    doubted = warehouse_of(workshop).rows(
        "select distinct subject from verdicts where decision <> 'proved' and check_name like"
        " 'tool_%' order by 1"
    )
    asked = warehouse_of(workshop).rows("select subject from review_requests order by 1")
    assert asked == doubted
    keys = {tool.key for tool in make(making(), workshop)}
    assert not keys & {row["subject"] for row in asked}


def test_the_same_asked_again_makes_nothing_new(workshop: Settings) -> None:
    before = row_counts(workshop)
    first = make(making(), workshop)
    assert make(making(name="another", samples={"perfect": 1}), workshop) == first
    assert row_counts(workshop) == before


def test_another_count_seed_or_category_is_another_toolset(workshop: Settings) -> None:
    sources = [
        {"generate": CATEGORIES, "tools_per_category": 9},
        {"generate": ["Clock"], "tools_per_category": COUNT},
        {"generate": CATEGORIES, "tools_per_category": COUNT},
    ]
    recipes = [making(), making(seed=4), *(making(tools=[source]) for source in sources)]
    keys = [toolset_of(recipe.tools[0], recipe).key for recipe in recipes]  # type: ignore[arg-type]
    assert len(set(keys)) == 4
    assert keys[0] == keys[4]


def test_an_unknown_category_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"'Cloks'; did you mean Clock\? The categories are .*Clock"
    ):
        making(tools=[{"generate": ["Cloks"]}])


def test_a_build_uses_the_tools_that_were_made_and_no_other(workshop: Settings) -> None:
    recipe = making()
    report = build(recipe, workshop)
    assert report.planned == 6
    used = {row["tool"] for row in warehouse_of(workshop).rows("select tool from build_tools")}
    assert used == {tool.key for tool in make(recipe, workshop)}


def test_a_build_makes_the_tools_that_it_lacks(tmp_path: Path) -> None:
    recipe = making(tools=[{"generate": ["Weather"], "tools_per_category": 8}, {"seed": ["Clock"]}])
    build(recipe, settings_of(tmp_path))
    sources = warehouse_of(settings_of(tmp_path)).rows(
        "select distinct t.source from build_tools b join tools t on t.key = b.tool order by 1"
    )
    assert [row["source"] for row in sources] == ["generated", "seed"]


def test_a_build_that_is_opened_before_its_tools_are_made_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="callwright tools make"):
        open_build(making(), settings_of(tmp_path), SilentProgress())


class CutOffError(Exception):
    """Somebody pulls the plug."""


class PlugPuller(SilentProgress):
    """Ends the work after the first shard."""

    def advance(self, count: int) -> None:
        raise CutOffError


def test_making_that_was_cut_off_goes_on_where_it_stopped(
    workshop: Settings, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "cut")
    with pytest.raises((CutOffError, ExceptionGroup)):
        make(making(), settings, PlugPuller())
    begun = one(settings, "select count(*) from outcomes where stage = 'tool_names'")
    assert 0 < begun < 4
    assert one(settings, "select count(*) from toolsets where finished_at is null") == 1
    assert make(making(), settings) == make(making(), workshop)
    again = "select request from llm_calls where not cached group by request having count(*) > 1"
    assert one(settings, f"select count(*) from ({again})") == 0


class Listener(SilentProgress):
    """Notes the steps in which the work went on."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def advance(self, count: int) -> None:
        self.steps.append(count)


def test_making_goes_on_and_is_kept_in_small_steps_whatever_the_size_of_a_shard_of_samples(
    tmp_path: Path,
) -> None:
    listener = Listener()
    line = {"generate": [*CATEGORIES, "Hotels", "Notes"], "tools_per_category": 4}
    make(making(tools=[line], shard_size=250), settings_of(tmp_path), listener)
    assert sorted(listener.steps) == [2, PLANS_A_SHARD]


def test_the_report_counts_by_category_and_tells_the_gaps(workshop: Settings) -> None:
    [report] = asyncio.run(report_tools(making(), workshop, SilentProgress()))
    assert [row.category for row in report.categories] == CATEGORIES
    for row in report.categories:
        assert row.made == row.used + row.waiting + row.rejected
    assert sum(row.waiting for row in report.categories) == len(report.waiting) > 0
    assert sum(row.gaps for row in report.categories) == len(report.gaps)


class ToolProgress(SilentProgress):
    """Notes what is said."""

    def __init__(self) -> None:
        self.stated: list[str] = []

    def say(self, sentence: str) -> None:
        self.stated.append(sentence)


def test_whoever_makes_tools_is_told_which_way_their_model_takes(
    model_server: ModelServer, tmp_path: Path
) -> None:
    progress = ToolProgress()
    line = {"generate": ["Clock"], "tools_per_category": 1}
    recipe = making(tools=[line], languages=["en"], models=stub_roles(model_server))
    asyncio.run(report_tools(recipe, settings_of(tmp_path), progress))
    assert progress.stated == ["Models: generator openai/stub (lean)."]


def test_a_recipe_without_tools_to_make_is_told_what_line_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="generate: all"):
        asyncio.run(report_tools(unmeasured_recipe(), settings_of(tmp_path), SilentProgress()))


def test_a_catalog_is_checked_for_all_that_makes_tools_hard_to_use() -> None:
    kinds = {problem.kind for problem in find_problems(seed_tools())}
    assert kinds == {"too_complex", "redundant", "crud_gap"}


def test_a_lineage_leads_from_a_sample_to_the_plan_of_its_tool(workshop: Settings) -> None:
    build(making(), workshop)
    types = warehouse_of(workshop).rows(
        "select distinct type from lineage where sample = (select min(key) from accepted_samples)"
        " order by 1"
    )
    assert {
        "ToolsetPlan",
        "NamedTool",
        "DescribedTool",
        "ParameterisedTool",
        "Tool",
        "Assignment",
    } <= {row["type"] for row in types}
