"""The review loop against a real Label Studio."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.annotation.screens import REVIEW_KINDS
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import ServerInfo
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.status import review_status
from tests.support.annotation import editing
from tests.support.flows.paper_studio import control_result
from tests.support.flows.review_sites import (
    OFF_TOPIC,
    ReviewSite,
    open_site,
    spot_check_with_a_call,
)
from tests.support.flows.small_builds import run, run_here, write_unmeasured_recipe

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]


@pytest.fixture
def site(built_site: Path, tmp_path: Path, label_studio_server: ServerInfo) -> Iterator[ReviewSite]:
    """A work folder whose Label Studio, named by URL and token, is empty of reviews."""
    shutil.copytree(built_site, tmp_path / "home")
    with LabelStudio(label_studio_server.url, label_studio_server.token) as studio:
        remove_projects(studio)
        yield named(open_site(tmp_path / "home", studio), label_studio_server)


def named(site: ReviewSite, server: ServerInfo) -> ReviewSite:
    settings = site.settings._replace(label_studio_url=server.url, label_studio_token=server.token)
    return site._replace(settings=settings)


def remove_projects(studio: LabelStudio) -> None:
    for project in map(studio.find_project, REVIEW_KINDS):
        if project is not None:
            studio.client.projects.delete(project.id)


def task_of(site: ReviewSite, subject: str) -> dict:
    """The newest task about a sample."""
    project = site.studio.find_project("sample_review")
    found = [
        task
        for task in site.studio.client.tasks.list(project=project.id, fields="all")
        if task.data["subject"] == subject
    ]
    return max(found, key=lambda task: task.data["version"])


def annotate(
    site: ReviewSite, subject: str, verdict: str, *, skipped: bool = False, **typed: object
) -> int:
    controls = {"verdict": [verdict]} if verdict else {}
    controls |= {
        name: value if isinstance(value, list) else [value] for name, value in typed.items()
    }
    result = [control_result(name, values) for name, values in controls.items()]
    made = site.studio.client.annotations.create(
        id=task_of(site, subject).id, result=result, was_cancelled=skipped, lead_time=7.5
    )
    return made.id


def edit(site: ReviewSite, subject: str, request: str, more: str = "") -> None:
    rows = task_of(site, subject).data["rows"]
    typed = editing.edited(rows, request) | ({editing.more_of(rows): more} if more else {})
    annotate(site, subject, "edit", **typed)


def test_the_loop_goes_round(site: ReviewSite, label_studio_server: ServerInfo) -> None:
    accepted, rejected, broken, skipped = site.asked("doubtful")[:4]
    contradicted = spot_check_with_a_call(site)
    edited, spot = [
        key for key in site.asked("spot check") if key != contradicted and site.sample(key).gold
    ][:2]
    asked = site.value("select count(*) from review_requests")
    assert site.push() == (asked, 0)
    assert site.push() == (0, 0)
    annotate(site, accepted, "accept", comment="Good.")
    change = annotate(site, rejected, "reject", reasons=["wrong_value", "other"])
    annotate(site, spot, "reject", reasons=["unnatural"])
    edit(site, edited, site.polite(edited))
    edit(site, contradicted, OFF_TOPIC)
    edit(site, broken, "Other words.", more="no line")
    annotate(site, skipped, "", skipped=True)

    assert site.pull() == Pulled(
        reviews=5, accepted=1, edited=2, rejected=2, returned=1, contradicted=1
    )
    person = label_studio_server.username
    assert site.accepted(accepted) == {"proved": False, "vouched": True, "accepted_by": person}
    assert site.accepted(spot) is None
    assert site.standing(rejected)[1] == "rejected"
    child, doubted = (
        site.value("select result from decisions where subject = ?", key)
        for key in (edited, contradicted)
    )
    assert site.accepted(child)["accepted_by"] == person
    assert task_of(site, doubted).data["why"].startswith(f"As edited by {person}: ")
    back = task_of(site, broken).data
    assert back["version"] == 2
    assert "Other words." in editing.as_sent(back["rows"]).values()
    assert "`name = value`" in back["why"]
    assert site.rows("select distinct seconds from reviews") == [{"seconds": 7.5}]

    before = site.everything()
    assert site.pull() == Pulled()
    after = site.everything()
    assert {table for table in after if after[table] != before[table]} <= {"review_cursors"}
    assert site.push() == (0, 0)

    site.studio.client.annotations.update(id=change, result=[control_result("verdict", ["accept"])])
    annotate(site, doubted, "accept")
    assert site.pull() == Pulled(reviews=2, accepted=2)
    assert site.accepted(rejected)["vouched"]
    assert site.accepted(doubted) is None, "an edit that checks doubt lands on no one person's word"
    [server] = review_status(site.settings, ask_server=True)["label_studio"]
    assert server["tasks"] == asked + 2
    assert server["skipped"] == 1


def test_the_command_line_says_what_it_did(
    site: ReviewSite, label_studio_server: ServerInfo
) -> None:
    named = {
        "LABEL_STUDIO_URL": label_studio_server.url,
        "LABEL_STUDIO_API_KEY": label_studio_server.token,
    }
    home = site.settings.home
    pushed = run("review", "push", home=home, **named)
    asked = site.value("select count(*) from review_requests")
    assert pushed.stdout.startswith(f"{asked} tasks sent: {label_studio_server.url}/projects/"), (
        pushed.stderr
    )
    assert run_here("review", "push", home=home, **named).stdout.startswith(
        "There is nothing to send."
    )
    annotate(site, site.asked("doubtful")[0], "accept")
    pulled = run_here("review", "pull", home=home, **named)
    assert pulled.stdout == "1 new review: 1 accepted, 0 edited, 0 rejected.\n"
    assert run_here("review", "pull", home=home, **named).stdout == "No new reviews.\n"
    status = run_here("review", "status", "--server", "--json", home=home, **named)
    told = json.loads(status.stdout)
    kinds = {
        "samples": "",
        "tools": "tool_",
        "corrections": "correction_",
        "disambiguations": "disambiguation_",
    }
    assert set(told) >= {*kinds, *(f"{kind}reviewers" for kind in kinds.values())}
    [server] = told["label_studio"]
    assert server["finished"] == 1
    shown = run_here("review", "status", "--server", home=home, **named)
    assert "with people" in shown.stdout
    for done in (pushed, pulled, status, shown):
        assert done.returncode == 0
        assert "Warning" not in done.stderr
        assert label_studio_server.password not in done.stdout + done.stderr


def test_a_build_pushes_what_it_asks_about(
    tmp_path: Path, label_studio_server: ServerInfo, label_studio: LabelStudio
) -> None:
    remove_projects(label_studio)
    recipe = write_unmeasured_recipe(
        tmp_path, seed=13, samples={"perfect": 4}, review={"spot_checks": 2}
    )
    named = {
        "LABEL_STUDIO_URL": label_studio_server.url,
        "LABEL_STUDIO_API_KEY": label_studio_server.token,
    }
    done = run_here("build", str(recipe), home=tmp_path / "home", **named)
    assert done.returncode == 0, done.stderr
    assert "2 tasks sent to reviewers: " in done.stdout
