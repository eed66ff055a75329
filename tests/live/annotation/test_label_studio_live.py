"""The adapter against a real Label Studio."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.screens import Screen, screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import ServerInfo, running, start
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import Call
from tests.support.annotation.editing import edited, more_of

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> Screen:
    """The screen of sample reviews, under a kind of this test's own."""
    number = abs(hash(request.node.nodeid)) % 10**9
    return screen_for("sample_review").with_changes(kind=f"test_{number}")


@pytest.fixture
def samples(make_sample):
    return [make_sample(number=number) for number in range(30)]


@pytest.fixture
def tasks(samples, tools, screen):
    return [
        QueuedTask(
            review_task(sample, tools, [], reason="-").with_changes(kind=screen.kind),
            priority=1 - number / 100,
        )
        for number, sample in enumerate(samples)
    ]


def annotate(
    label_studio: LabelStudio, task: int, *, skipped: bool = False, **controls: str
) -> int:
    result = [
        {
            "from_name": name,
            "to_name": "conversation",
            "type": "choices" if is_choice else "textarea",
            "value": {"choices" if is_choice else "text": [value]},
        }
        for name, value in controls.items()
        for is_choice in [name in ("verdict", "reasons") or name.startswith("choice_")]
    ]
    made = label_studio.client.annotations.create(
        id=task, result=result, was_cancelled=skipped, lead_time=4.5
    )
    return made.id


def test_what_people_said_is_pulled_once_and_again_only_when_it_changed(
    label_studio, screen, samples, tasks, tools
):
    project = label_studio.ensure_project(screen)
    numbers = label_studio.push(project, tasks[:6]).task_ids
    ids = [numbers[task.callwright_key] for task in tasks[:6]]
    annotate(label_studio, ids[0], verdict="accept", comment="Good.")
    annotate(label_studio, ids[1], verdict="reject", reasons="unnatural")
    rows = tasks[2].data()["rows"]
    other = [Call(tool="cancel_table", arguments={"booking": "B7"})]
    annotate(label_studio, ids[2], verdict="edit", **edited(rows, calls=other))
    typed = edited(rows) | {more_of(rows): "no line"}
    bad = annotate(label_studio, ids[3], verdict="edit", **typed)
    annotate(label_studio, ids[4], skipped=True)
    pulled = label_studio.pull(project)
    parsed = {
        each.task_id: parse_review(each, samples[ids.index(each.task_id)], tools)
        for each in pulled.annotations
    }
    assert [parsed[task].outcome for task in ids[:5]] == [
        "reviewed",
        "reviewed",
        "reviewed",
        "returned",
        "skipped",
    ]
    assert parsed[ids[0]].review.seconds == 4.5
    assert parsed[ids[1]].review.reasons == ("unnatural",)
    assert parsed[ids[2]].edited.gold[0].arguments == {"booking": "B7"}
    assert "no line" in parsed[ids[3]].returned.calls
    assert label_studio.status(project).finished == 4

    renewed = screen.with_changes(config=screen.config.replace("12.5px", "13px"))
    label_studio.ensure_project(renewed)  # with answers that hold the controls of rows
    later = pulled.cursor + timedelta(minutes=2)  # the adapter looks back two minutes
    assert label_studio.pull(project, later).annotations == ()
    label_studio.client.annotations.update(id=bad, result=[])
    assert [each.annotation_id for each in label_studio.pull(project, later).annotations] == [bad]


def test_the_table_of_tasks_is_arranged_once_and_then_left_to_people(label_studio, screen):
    project = label_studio.ensure_project(screen)
    view, _ = label_studio.client.views.list(project=project.id)
    assert "tasks:data.conversation" in view.data["hiddenColumns"]["explore"]
    label_studio.client.views.update(str(view.id), project=project.id, data={"title": "Mine"})
    label_studio.ensure_project(screen)
    assert [view.data["title"] for view in label_studio.client.views.list(project=project.id)] == [
        "Mine",
        "Answered",
    ]


def test_a_wrong_token_is_refused_with_what_to_do(label_studio_server):
    with (
        LabelStudio(label_studio_server.url, "0" * 40) as other,
        pytest.raises(AnnotationError, match="refused the tok"),
    ):
        other.find_project("sample_review")


def test_a_second_start_finds_the_running_server(label_studio_server: ServerInfo, tmp_path_factory):
    home = next(
        path
        for path in Path(tmp_path_factory.getbasetemp()).glob("home*")
        if (path / "label-studio").is_dir()
    )
    again = start(home, os.environ)
    assert (again.pid, again.started) == (label_studio_server.pid, False)
    assert running(home).url == label_studio_server.url
    assert running(home / "elsewhere") is None


def test_the_server_keeps_its_telephone_on_the_hook(label_studio_server: ServerInfo):
    """Every socket that the server's processes hold leads to this machine."""
    addresses = {
        address for process in _processes(label_studio_server.pid) for address in _peers(process)
    }
    assert addresses <= {"127.0.0.1"}


def _processes(supervisor: int) -> list[int]:
    children = (
        Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text(encoding="utf-8").split()
    )
    return [supervisor, *map(int, children)]


def _peers(process: int) -> set[str]:
    sockets = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        target = str(link.readlink())
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    rows = [
        line.split()
        for line in Path(f"/proc/{process}/net/tcp").read_text(encoding="utf-8").splitlines()[1:]
    ]
    found = set()
    for row in rows:
        if row[9] in sockets:
            peer = bytes.fromhex(row[2].split(":")[0])[::-1]
            if any(peer):
                found.add(".".join(map(str, peer)))
    return found
