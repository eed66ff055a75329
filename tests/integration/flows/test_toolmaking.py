"""Making tools for a recipe: once, checked, and without what waits for people."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings
from callwright.flows.stages import stages_of
from callwright.flows.toolmaking import PLANS_A_SHARD, make_tools, report_tools
from callwright.warehouse.records import Tool
from tests.support.flows.model_server import ModelServer
from tests.support.flows.small_builds import (
    build,
    one,
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
    funnel = {
        row["stage"]: row
        for row in warehouse.rows(
            """select f.stage, count(*) as entered, count(*) filter (f.outcome = 'passed') as passed,
            count(*) filter (f.outcome = 'rejected') as rejected, count(*) filter (f.outcome = 'failed') as failed,
            count(*) filter (f.outcome = 'waiting') as waiting
            from outcomes f join toolsets t on t.key = f.build join stages s on s.name = f.stage
            group by f.stage, s.position order by s.position"""
        )
    }
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


def test_a_build_uses_the_tools_that_were_made_and_no_other_and_knows_their_plans(
    workshop: Settings,
) -> None:
    recipe = making()
    report = build(recipe, workshop)
    assert report.planned == 6
    used = {row["tool"] for row in warehouse_of(workshop).rows("select tool from build_tools")}
    assert used == {tool.key for tool in make(recipe, workshop)}
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


def test_a_build_makes_the_tools_that_it_lacks(tmp_path: Path) -> None:
    recipe = making(tools=[{"generate": ["Weather"], "tools_per_category": 8}, {"seed": ["Clock"]}])
    build(recipe, settings_of(tmp_path))
    sources = warehouse_of(settings_of(tmp_path)).rows(
        "select distinct t.source from build_tools b join tools t on t.key = b.tool order by 1"
    )
    assert [row["source"] for row in sources] == ["generated", "seed"]


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
