"""Runs of a schedule: each makes samples beside those before it, tells what is new, and releases
what is reviewed.
"""

import asyncio
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.catalogs import catalog_named, tools_in
from callwright.flows.environments import STORE
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Recipe
from callwright.flows.refreshed_tools import refresh_tools
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import build_dataset
from callwright.flows.scheduled_runs import RunReport, carry_out, release_reviewed, runs_of
from callwright.flows.settings import Settings
from callwright.generators.environments.response_store import Description, ResponseStore
from callwright.warehouse.errors import ConfigurationError, TransientError
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import open_site
from tests.support.flows.small_builds import (
    TOP,
    one,
    run_here,
    settings_of,
    unmeasured_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)

FIRST = datetime(2026, 11, 1, 3, tzinfo=UTC)
SMALL: dict[str, Any] = {
    "languages": ["en"],
    "samples": {"perfect": 8, "imperfect": 4},
    "review": {"spot_checks": 0},
}


def scheduled(each: dict[str, Any], **changes: Any) -> Recipe:
    rules = {"cron": "0 3 * * *", "each": each, "release": "when reviewed"}
    return unmeasured_recipe(**SMALL | {"schedule": rules} | changes)


def night(
    recipe: Recipe,
    settings: Settings,
    number: int,
    before: Callable[[int], None] = lambda _run: None,
) -> list[RunReport]:
    """Carry out the run that is due in a night; `before` is told of each build."""

    async def build(run: int) -> BuildReport:
        before(run)
        return await build_dataset(recipe.as_run(run), settings, SilentProgress())

    async def carried() -> list[RunReport]:
        due = FIRST + timedelta(days=number - 1)
        return [report async for report in carry_out(recipe, due, settings, build)]

    return asyncio.run(carried())


def test_each_run_adds_samples_beside_those_before_it_and_a_release_takes_all(
    tmp_path: Path,
) -> None:
    recipe, settings = scheduled({"grow": 6}), settings_of(tmp_path)
    found = [report for number in (1, 2, 3) for report in night(recipe, settings, number)]
    assert [report.run for report in found] == [1, 2, 3]
    assert night(recipe, settings, 3) == [], "the run of this night has ended"
    made = [report.landed + report.waiting + report.rejected for report in found]
    assert made == [12, 6, 6]
    assert [report.accepted for report in found] == [
        sum(report.landed for report in found[: at + 1]) for at in range(3)
    ]
    warehouse = warehouse_of(settings)
    kinds = warehouse.rows(
        "select run, kind, count(*) as n from build_samples m join samples s on s.key = m.sample"
        " join builds b on b.key = m.build group by all order by all"
    )
    counts = {(row["run"], row["kind"]): row["n"] for row in kinds}
    assert counts == {
        (1, "perfect"): 8,
        (1, "imperfect"): 4,
        **{(run, kind): n for run in (2, 3) for kind, n in (("perfect", 4), ("imperfect", 2))},
    }
    calls = warehouse.rows("select request from accepted_samples")
    assert len({row["request"] for row in calls}) == len(calls) == found[-1].accepted
    [released] = release_reviewed(settings)
    assert (released.release.name, released.release.samples) == ("small-run-3", found[-1].accepted)
    assert release_reviewed(settings) == []
    done = run_here("release", "create", "by-hand", "--json", home=tmp_path)
    assert json.loads(done.stdout)["samples"] == found[-1].accepted
    [row] = warehouse.rows("select sum(planned) as planned from recipe_needs")
    assert row["planned"] == 24
    assert one(settings, "select count(*) from funnel where stage = 'land' and is_latest") == 3


def test_a_run_of_another_seed_makes_as_many_again_and_repeats_nothing(tmp_path: Path) -> None:
    recipe, settings = scheduled({"seed": "new"}), settings_of(tmp_path)
    [first], [second] = night(recipe, settings, 1), night(recipe, settings, 2)
    assert second.landed + second.waiting + second.rejected == 12
    assert second.accepted == first.landed + second.landed
    requests = warehouse_of(settings).rows("select request from accepted_samples")
    assert max(Counter(row["request"] for row in requests).values()) == 1


def test_a_run_that_was_cut_off_goes_on_before_the_next_one(tmp_path: Path) -> None:
    recipe, settings = scheduled({"grow": 6}), settings_of(tmp_path)
    night(recipe, settings, 1)

    def away(_run: int) -> None:
        raise TransientError("The provider is away.")

    with pytest.raises(TransientError):
        night(recipe, settings, 2, before=away)
    built: list[int] = []
    found = night(recipe, settings, 3, before=built.append)
    assert built == [2, 3] == [report.run for report in found]
    assert [run.due_at.day for run in runs_of(warehouse_of(settings), "small")] == [1, 2, 3]


def test_tools_that_changed_are_told_and_samples_that_call_them_are_counted(tmp_path: Path) -> None:
    settings, shop = settings_of(tmp_path / "home"), tmp_path / "shop.json"

    def write(**properties: Any) -> None:
        parameters = {"type": "object", "properties": properties, "required": [*properties]}
        function = {"name": "find_shop", "description": "Find a shop.", "parameters": parameters}
        more = function | {"name": "find_bar", "description": "Find a bar."}
        tools = [{"type": "function", "function": one} for one in (function, more)]
        shop.write_text(json.dumps(tools[: len(properties)]), encoding="utf-8")

    city = {"type": "string", "description": "The city, such as Ulm"}
    write(city=city)
    named = run_here("tools", "import", "openai", str(shop), "--name", "shop", home=settings.home)
    assert named.returncode == 0, named.stderr
    tools = [{"seed": ["Weather"]}, {"catalog": "shop"}]
    recipe = scheduled({"tools": "refresh"}, tools=tools)
    [first] = night(recipe, settings, 1)
    assert len(release_reviewed(settings)) == 1
    [same] = night(recipe, settings, 2)
    assert release_reviewed(settings) == [], "it made nothing"
    assert (same.is_repeated, same.landed, same.build) == (True, 0, first.build)
    assert "nothing has changed" in same.sentences[0]
    write(city=city, day={"type": "string", "format": "date", "description": "The day"})
    [changed] = night(recipe, settings, 3)
    assert changed.build != first.build
    assert [(one.tool, one.difference, one.parts) for one in changed.tool_changes] == [
        ("find_bar", "new", ()),
        ("find_shop", "schema", ("parameter day is new",)),
    ]
    assert "1 tool is new: find_bar." in changed.sentences
    asking = "select count(distinct sample) from gold_calls where tool = 'find_shop' and build = "
    assert changed.stale == one(settings, f"{asking}'{first.build}'") > 0
    assert changed.accepted == first.landed + changed.landed


def test_mcp_servers_are_asked_for_their_tools_again(tmp_path: Path) -> None:
    settings, server, verb = settings_of(tmp_path), tmp_path / "server.py", tmp_path / "verb"
    text = (TOP / "tests/support/generators/environments/mcp_paged.py").read_text("utf-8")
    changing = text.replace('f"read_{', f'open({str(verb)!r}).read() + f"_{{')
    server.write_text(changing, encoding="utf-8")
    verb.write_text("read", encoding="utf-8")
    command = shlex.join([sys.executable, str(server)])
    words = ("tools", "import", "mcp", "--server", command, "--name", "paged")
    done = run_here(*words, home=tmp_path)
    assert done.returncode == 0, done.stderr
    own = {"environment": "mcp", "name": "own", "command": [sys.executable], "allow": ["*"]}
    recipe = unmeasured_recipe(tools=[{"catalog": "paged"}, own])
    with closing(ResponseStore(tmp_path / STORE)) as store:
        store.describe("own", "", Description((), ()))
        verb.write_text("look", encoding="utf-8")
        asyncio.run(refresh_tools(recipe, settings))
        assert store.description("own") is None, "it is explored again"
    warehouse = warehouse_of(settings)
    names = {tool.name for tool in tools_in(warehouse, catalog_named(warehouse, "paged").key)}
    assert names == {"look_first", "look_second", "look_third"}
    verb.unlink()  # the server fails
    with pytest.raises(TransientError, match="'paged' can't be fetched"):
        asyncio.run(refresh_tools(recipe, settings))


def test_a_run_is_released_once_all_that_people_were_asked_about_it_is_answered(
    tmp_path: Path,
) -> None:
    settings = settings_of(tmp_path)
    recipe = scheduled({"grow": 6}, review={"spot_checks": 1})
    night(recipe, settings, 1)
    night(recipe, settings, 2)
    site = open_site(tmp_path, PaperStudio())
    site.push()
    asked = site.rows("select subject, build from review_queue where is_current order by build")
    builds = [run.build for run in runs_of(site.warehouse, "small")]
    assert {row["build"] for row in asked} == {*builds}, "questions of earlier runs stay current"
    assert release_reviewed(settings) == []

    def answer(build: str) -> None:
        for row in asked:
            if row["build"] == build:
                site.studio.annotate(row["subject"], "accept")
        site.pull()

    answer(builds[1])
    assert release_reviewed(settings) == [], "the run before it is not reviewed"
    answer(builds[0])
    [made] = release_reviewed(settings)
    assert made.release.name == "small-run-2"
    assert made.release.samples == one(settings, "select count(*) from accepted_samples")
    night(recipe, settings, 3)
    site.push()
    [third] = site.rows("select subject, build from review_queue where not is_answered")
    asked.append(third)
    answer(third["build"])
    [next_one] = release_reviewed(settings)
    assert (next_one.release.name, next_one.release.follows) == ("small-run-3", "small-run-2")


def test_the_command_carries_out_a_run_and_lists_all(tmp_path: Path) -> None:
    rules = {"cron": "0 3 * * *", "each": {"grow": 4}, "release": "when reviewed"}
    candidates = [{"label": "template", "model": "template/v1"}]
    recipe = write_unmeasured_recipe(
        tmp_path, **SMALL | {"schedule": rules, "candidates": candidates}
    )
    home = tmp_path / "home"
    for day in (1, 2, 2):
        due = f"2026-11-0{day}T03:00"
        done = run_here("grow", str(recipe), "--due", due, "--no-review", home=home)
        assert done.returncode == 0, done.stderr
    assert "has ended already" in done.stdout
    listed = json.loads(run_here("runs", "small", "--json", home=home).stdout)
    assert [(row["run"], row["release"]) for row in listed] == [
        (1, "small-run-1"),
        (2, "small-run-2"),
    ]
    scored = "select count(*) from (select distinct release from scores)"
    assert one(settings_of(home), scored) == 2
    wrong = run_here("grow", str(recipe), "--due", "tonight", home=home)
    assert (wrong.returncode, "--due is 'tonight'" in wrong.stderr) == (2, True)


def test_a_recipe_whose_schedule_says_nothing_of_runs_has_none(tmp_path: Path) -> None:
    recipe = unmeasured_recipe()
    with pytest.raises(ConfigurationError, match="does not say what each run does"):
        night(recipe, settings_of(tmp_path), 1)
    with pytest.raises(ConfigurationError, match="has no run 2"):
        recipe.as_run(2)
