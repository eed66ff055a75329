"""The oldest Label Studio that callwright is tried with, by URL and either kind of token; the
newest is the one it brings.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import REVIEW_KINDS, screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.projects import tables_of
from callwright.annotation.studio.server import ServerInfo, start, stop
from tests.support.flows.paper_studio import control_result
from tests.support.studio_users import invite

pytestmark = [
    pytest.mark.labelstudio,
    pytest.mark.enable_socket,
    pytest.mark.xdist_group("labelstudio_oldest"),
]

LOCK = Path(__file__).with_name("label-studio-1.20.0.lock")
ACCEPT = [control_result("verdict", ["accept"])]


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    home = tmp_path_factory.mktemp("oldest")
    yield start(home, os.environ, timeout=900, other_lock=LOCK)
    stop(home)


@pytest.fixture(params=["legacy", "personal"])
def studio(oldest: ServerInfo, request: pytest.FixtureRequest) -> Iterator[LabelStudio]:
    with LabelStudio(oldest.url, oldest.token) as opened:
        if request.param == "legacy":
            yield opened
            return
        token = opened.client.tokens.create().token
    with LabelStudio(oldest.url, token) as opened:
        yield opened


@pytest.mark.filterwarnings("ignore:The `parse_obj` method")  # of the vendor's own token refresh
def test_the_oldest_version_does_all_that_the_review_loop_asks(
    studio, oldest, make_sample, tools, request
):
    assert studio.client.versions.get().release == "1.20.0"
    assert studio.signed_in_as() == oldest.username
    screen = screen_for("sample_review").with_changes(
        kind=f"oldest_{abs(hash(request.node.nodeid)) % 10**9}"
    )
    project = studio.ensure_project(screen)
    tasks = [
        QueuedTask(
            review_task(make_sample(number=number), tools, [], reason="-").with_changes(
                kind=screen.kind
            ),
            priority,
        )
        for number, priority in enumerate((0.2, 0.8, 0.5))
    ]
    tasks = [*tasks[:2], tasks[2]._replace(reviewers=2)]
    pushed, again = studio.push(project, tasks), studio.push(studio.ensure_project(screen), tasks)
    assert (pushed.created, again.created, again.already_there) == (3, 0, 3)
    assert pushed.task_ids == again.task_ids
    low, high, middle = (pushed.task_ids[task.callwright_key] for task in tasks)
    assert tuple(view.data for view in studio.client.views.list(project=project.id)) == tables_of(
        screen
    )

    mark = abs(hash(str(oldest.url) + request.node.name)) % 10**6
    with invite(oldest, f"ann{mark}") as ann, invite(oldest, f"ben{mark}") as ben:
        assert ann.next_task(project.id, as_displayed=True)["id"] == high
        for task in (high, middle):
            ann.annotate(task, ACCEPT)
        taken_back = ann.annotate(low, ACCEPT)
        assert ann.next_task(project.id) is None
        assert ben.next_task(project.id)["id"] == middle
        studio.ask_several({high: 2})
        ben.annotate(middle, [], skipped=True)
        assert ben.next_task(project.id)["id"] == high
        ben.ask("POST", f"/api/tasks/{high}/drafts", {"result": ACCEPT, "lead_time": 1})

    pulled = studio.pull(project)
    assert sorted((one.task_id, one.reviewer, one.skipped) for one in pulled.annotations) == sorted(
        [
            (high, ann.email, False),
            (middle, ann.email, False),
            (low, ann.email, False),
            (middle, ben.email, True),
        ]
    )
    studio.client.annotations.delete(id=taken_back)
    states = {
        one.task_id: (len(one.submitted), one.skipped, one.drafts)
        for one in studio.pull(project, pulled.cursor).states
    }
    assert states == {high: (1, 0, 1), middle: (1, 1, 0), low: (0, 0, 0)}
    studio.client.tasks.delete(id=str(low))
    assert studio.gone(project, pushed.task_ids.values()) == {low}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_the_oldest_version_takes_every_screen(oldest, kind, language):
    with LabelStudio(oldest.url, oldest.token) as studio:
        screen = screen_for(kind, language)
        project = studio.ensure_project(screen.with_changes(kind=f"{kind}_{language}"))
        assert not studio.find_project(project.kind).changed_by_hand
