"""Tools that wait for people: pushed, decided, and used by the next build or not."""

import asyncio
import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.pushing import waiting_reviews
from callwright.flows.review.status import review_status
from callwright.flows.toolmaking import make_tools
from callwright.warehouse.records import Tool
from callwright.warehouse.releases import read_tools
from tests.integration.flows.test_toolmaking import making
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import NOTHING_NEW, ReviewSite, open_site
from tests.support.flows.small_builds import settings_of


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    """A work folder with a toolset in it, its tasks in a drawer."""
    home = tmp_path_factory.mktemp("tools")
    _usable(settings_of(home))
    site = open_site(home, PaperStudio())
    site.push()
    return site


@pytest.fixture
def tools(pushed: ReviewSite, tmp_path: Path) -> ReviewSite:
    """A copy of it, the test's own."""
    shutil.copytree(pushed.settings.home, tmp_path / "home")
    return open_site(tmp_path / "home", copy.deepcopy(pushed.studio))


def _usable(settings: Any) -> set[str]:
    recipe = making()
    source: Any = recipe.tools[0]
    return {
        tool.key for tool in asyncio.run(make_tools(source, recipe, settings, SilentProgress()))
    }


def _waiting(site: ReviewSite) -> list[str]:
    rows = site.rows("select subject from outcomes where outcome = 'waiting' order by subject")
    return [row["subject"] for row in rows]


def _tool(site: ReviewSite, key: str) -> Tool:
    return read_tools(site.warehouse, [key])[key]


def _edited(site: ReviewSite, key: str, **changes: Any) -> str:
    tool = _tool(site, key)
    typed = tool.signature | changes
    typed["parameters"] = json.dumps(typed["parameters"])
    site.studio.annotate(key, "edit", **{f"edited_{field}": text for field, text in typed.items()})
    return tool.with_changes(**changes).key


def test_what_waits_is_pushed_once_with_its_twin_beside_it(tools: ReviewSite) -> None:
    waiting = _waiting(tools)
    assert waiting
    assert {task["subject"] for task in tools.studio.tasks.values()} == set(waiting)
    assert all(
        "Clock." in task["twin"] or "Weather." in task["twin"]
        for task in tools.studio.tasks.values()
    )
    assert tools.push() == (0, 0)
    assert waiting_reviews(tools.settings) == 0
    [row] = review_status(tools.settings)["tools"]
    assert (row["tasks"], row["with_people"], row["reviewed"]) == (len(waiting), len(waiting), 0)
    assert review_status(tools.settings)["samples"] == []
    assert tools.push(again=True) == (0, len(waiting))


def test_an_accepted_tool_is_used_from_now_on_and_a_rejected_one_is_not(tools: ReviewSite) -> None:
    before = _usable(tools.settings)
    accepted, rejected, *rest = _waiting(tools)
    tools.studio.annotate(accepted, "accept")
    tools.studio.annotate(rejected, "reject", reasons=["redundant"])
    assert tools.pull() == Pulled(reviews=2, accepted=1, rejected=1)
    assert _usable(tools.settings) == before | {accepted}
    assert _waiting(tools) == rest
    reasons = tools.rows(
        "select subject, outcome, reason from outcomes where stage = 'tool_review' and reason like"
        " '%ann%'"
    )
    assert {row["subject"]: row["outcome"] for row in reasons} == {
        accepted: "passed",
        rejected: "rejected",
    }
    assert tools.pull() == NOTHING_NEW
    [row] = review_status(tools.settings)["tool_reviewers"]
    assert (row["reviewer"], row["accepted"], row["rejected"]) == ("ann", 1, 1)


def test_an_edited_tool_takes_the_place_of_the_old_one_and_knows_its_parent(
    tools: ReviewSite,
) -> None:
    before = _usable(tools.settings)
    [key, *_] = _waiting(tools)
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "description": "colour of the display"}},
        "required": ["colour"],
    }
    new = _edited(
        tools,
        key,
        name="Clock.Looks.paintDisplay",
        description="Paint the display.",
        parameters=schema,
    )
    assert tools.pull() == Pulled(reviews=1, edited=1)
    assert _usable(tools.settings) == before | {new}
    verdicts = tools.rows(
        "select check_name, decision from verdicts where subject = ? order by 1", new
    )
    assert [tuple(row.values()) for row in verdicts] == [
        ("tool_complexity", "proved"),
        ("tool_redundancy", "proved"),
    ]
    assert tools.value("select subject from decisions where result = ?", new) == key


def test_an_edit_that_a_check_contradicts_goes_back_and_is_used_when_it_is_accepted(
    tools: ReviewSite,
) -> None:
    before = _usable(tools.settings)
    [key, *_] = _waiting(tools)
    tool = _tool(tools, key)
    many = {f"word{number}": {"type": "string", "description": "a word"} for number in range(14)}
    new = _edited(tools, key, parameters={"type": "object", "properties": many, "required": []})
    assert tools.pull() == Pulled(reviews=1, edited=1, contradicted=1)
    assert _usable(tools.settings) == before
    assert key in _waiting(tools)
    task = tools.studio.newest_task(new)
    assert "14 parameters" in task["why"]
    assert task["name"] == tool.name
    assert tools.pull() == NOTHING_NEW
    tools.studio.annotate(new, "accept")
    assert tools.pull() == Pulled(reviews=1, accepted=1)
    assert _usable(tools.settings) == before | {new}
