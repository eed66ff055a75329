"""The review loop against a real Label Studio."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from annotation.screens import REVIEW_KINDS
from annotation.studio.client import LabelStudio
from annotation.studio.server import ServerInfo
from flows.progress import Silence
from flows.review.pulling import Pulled
from flows.review.pushing import push_reviews
from flows.review.status import review_status
from tests.support.flows.offices import OFF_TOPIC, Office, erring_recipe, gold_of, open_office, spot_check_with_a_call
from tests.support.flows.paper_studio import control_result
from tests.support.flows.small_builds import build, run, settings_of, write_recipe

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket, pytest.mark.xdist_group("labelstudio")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("built")
    build(erring_recipe(seed=11), settings_of(home))
    return home


@pytest.fixture
def office(built: Path, tmp_path: Path, label_studio_server: ServerInfo) -> Iterator[Office]:
    """A work folder whose Label Studio, named by URL and token, is empty of reviews."""
    shutil.copytree(built, tmp_path / "home")
    with LabelStudio(label_studio_server.url, label_studio_server.token) as studio:
        remove_projects(studio)
        yield named(open_office(tmp_path / "home", studio), label_studio_server)


def named(office: Office, server: ServerInfo) -> Office:
    settings = office.settings._replace(label_studio_url=server.url, label_studio_token=server.token)
    return office._replace(settings=settings)


def remove_projects(studio: LabelStudio) -> None:
    for project in map(studio.find_project, REVIEW_KINDS):
        if project is not None:
            studio._client.projects.delete(project.id)


def task_of(office: Office, subject: str) -> dict:
    """The newest task about a sample."""
    project = office.studio.find_project("sample_review")
    found = [
        task
        for task in office.studio._client.tasks.list(project=project.id, fields="all")
        if task.data["subject"] == subject
    ]
    return max(found, key=lambda task: task.data["version"])


def annotate(office: Office, subject: str, verdict: str, *, skipped: bool = False, **typed: object) -> int:
    controls = {"verdict": [verdict]} if verdict else {}
    controls |= {name: value if isinstance(value, list) else [value] for name, value in typed.items()}
    result = [control_result(name, values) for name, values in controls.items()]
    made = office.studio._client.annotations.create(
        id=task_of(office, subject).id, result=result, was_cancelled=skipped, lead_time=7.5
    )
    return made.id


def test_the_loop_goes_round(office: Office, label_studio_server: ServerInfo) -> None:
    accepted, rejected, broken, skipped = office.asked("doubtful")[:4]
    contradicted = spot_check_with_a_call(office)
    edited, spot = [key for key in office.asked("spot check") if key != contradicted and office.sample(key).gold][:2]
    asked = office.value("select count(*) from review_requests")
    assert office.push() == (asked, 0)
    assert office.push() == (0, 0)
    annotate(office, accepted, "accept", comment="Good.")
    change = annotate(office, rejected, "reject", reasons=["wrong_value", "other"])
    annotate(office, spot, "reject", reasons=["unnatural"])
    annotate(office, edited, "edit", edited_request=office.polite(edited), edited_calls=gold_of(office, edited))
    annotate(office, contradicted, "edit", edited_request=OFF_TOPIC, edited_calls=gold_of(office, contradicted))
    annotate(office, broken, "edit", edited_request="Other words.", edited_calls='[{"tool": ')
    annotate(office, skipped, "", skipped=True)

    assert office.pull() == Pulled(reviews=5, accepted=1, edited=2, rejected=2, returned=1, contradicted=1)
    person = label_studio_server.username
    assert office.accepted(accepted) == {"proved": False, "vouched": True, "accepted_by": person}
    assert office.accepted(spot) is None
    assert office.standing(rejected)[1] == "rejected"
    child, doubted = (
        office.value("select result from decisions where subject = ?", key) for key in (edited, contradicted)
    )
    assert office.accepted(child)["accepted_by"] == person
    assert task_of(office, doubted).data["why"].startswith(f"As edited by {person}: ")
    back = task_of(office, broken).data
    assert (back["version"], back["request"], back["calls"]) == (2, "Other words.", '[{"tool": ')
    assert office.rows("select distinct seconds from reviews") == [{"seconds": 7.5}]

    before = office.everything()
    assert office.pull() == Pulled()
    after = office.everything()
    assert {table for table in after if after[table] != before[table]} <= {"review_cursors"}
    assert office.push() == (0, 0)

    office.studio._client.annotations.update(id=change, result=[control_result("verdict", ["accept"])])
    annotate(office, doubted, "accept")
    assert office.pull() == Pulled(reviews=2, accepted=2)
    assert office.accepted(rejected)["vouched"]
    assert office.accepted(doubted)["vouched"]
    [server] = review_status(office.settings, ask_server=True)["label_studio"]
    assert server["tasks"] == asked + 2
    assert server["skipped"] == 1


def test_two_pushes_at_once_make_each_task_once(
    office: Office, tmp_path: Path, label_studio_server: ServerInfo
) -> None:
    shutil.copytree(office.settings.home, tmp_path / "twin")
    twin = open_office(tmp_path / "twin", office.studio)

    def push(side: Office) -> int:
        with LabelStudio(label_studio_server.url, label_studio_server.token) as studio:
            return push_reviews(side.settings, studio, Silence()).created

    with ThreadPoolExecutor(2) as sides:
        made = sum(sides.map(push, (office, twin)))
    asked = office.value("select count(*) from review_requests")
    office.push(again=True)
    project = office.studio.find_project("sample_review")
    assert office.studio.status(project).tasks == asked
    assert made >= asked


def test_another_work_folder_on_the_same_server_mixes_nothing_up(office: Office, tmp_path: Path) -> None:
    other = open_office(tmp_path / "other", office.studio)
    build(erring_recipe(seed=12, samples={"perfect": 3}), other.settings)
    office.push()
    other.push()
    mine, theirs = office.asked("doubtful")[0], other.asked("doubtful")[0]
    annotate(office, mine, "accept")
    annotate(other, theirs, "reject", reasons=["other"])
    project = office.studio.find_project("sample_review")
    data = task_of(office, mine).data
    foreign = {name: value for name, value in data.items() if name != "callwright_key"}
    made = office.studio._client.projects.import_tasks(
        project.id, request=[{"data": foreign}, {"data": data | {"callwright_key": "no key"}}], return_task_ids=True
    )
    office.studio._client.annotations.create(id=made.task_ids[1], result=[])
    first, second = office.pull(), other.pull()
    assert (first.accepted, first.rejected, first.elsewhere) == (1, 0, 1)
    assert (second.accepted, second.rejected, second.elsewhere) == (0, 1, 1)
    assert "'no key'" in first.problems[0]


def test_the_command_line_says_what_it_did(office: Office, label_studio_server: ServerInfo) -> None:
    named = {"LABEL_STUDIO_URL": label_studio_server.url, "LABEL_STUDIO_API_KEY": label_studio_server.token}
    home = office.settings.home
    pushed = run("review", "push", home=home, **named)
    asked = office.value("select count(*) from review_requests")
    assert pushed.stdout.startswith(f"{asked} tasks pushed: {label_studio_server.url}/projects/"), pushed.stderr
    assert run("review", "push", home=home, **named).stdout.startswith("Nothing waits to be pushed.")
    annotate(office, office.asked("doubtful")[0], "accept")
    pulled = run("review", "pull", home=home, **named)
    assert pulled.stdout == "1 new reviews: 1 accepted, 0 edited, 0 rejected.\n"
    assert run("review", "pull", home=home, **named).stdout == "No new reviews.\n"
    status = run("review", "status", "--server", "--json", home=home, **named)
    told = json.loads(status.stdout)
    kinds = {"samples": "", "tools": "tool_", "corrections": "correction_", "disambiguations": "disambiguation_"}
    assert set(told) >= {*kinds, *(f"{kind}reviewers" for kind in kinds.values())}
    [server] = told["label_studio"]
    assert server["finished"] == 1
    shown = run("review", "status", "--server", home=home, **named)
    assert "with people" in shown.stdout
    for done in (pushed, pulled, status, shown):
        assert done.returncode == 0
        assert "Warning" not in done.stderr
        assert label_studio_server.password not in done.stdout + done.stderr


def test_a_build_pushes_what_it_asks_about(
    tmp_path: Path, label_studio_server: ServerInfo, label_studio: LabelStudio
) -> None:
    remove_projects(label_studio)
    recipe = write_recipe(tmp_path, seed=13, samples={"perfect": 4}, review={"spot_checks": 2})
    named = {"LABEL_STUDIO_URL": label_studio_server.url, "LABEL_STUDIO_API_KEY": label_studio_server.token}
    done = run("build", str(recipe), home=tmp_path / "home", **named)
    assert done.returncode == 0, done.stderr
    assert "2 tasks pushed for people to review: " in done.stdout
