"""What a pull sees of a real Label Studio beside new annotations: what was taken back, skipped,
begun, deleted, changed.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import Screen, screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project, TaskState
from callwright.warehouse.errors import AnnotationError
from tests.support.flows.paper_studio import control_result

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]

ACCEPT = [control_result("verdict", ["accept"])]


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> Screen:
    """The screen of sample reviews, under a kind of this test's own."""
    return screen_for("sample_review").with_changes(
        kind=f"states_{abs(hash(request.node.nodeid)) % 10**9}"
    )


@pytest.fixture
def tasks(make_sample, tools, screen) -> list[QueuedTask]:
    return [
        QueuedTask(
            review_task(make_sample(number=number), tools, [], reason="-").with_changes(
                kind=screen.kind
            )
        )
        for number in range(6)
    ]


@pytest.fixture
def pushed(label_studio: LabelStudio, screen: Screen, tasks) -> tuple[Project, list[int]]:
    project = label_studio.ensure_project(screen)
    ids = label_studio.push(project, tasks).task_ids
    return project, [ids[task.callwright_key] for task in tasks]


@pytest.fixture
def states(label_studio: LabelStudio, pushed) -> Callable[..., dict[int, TaskState]]:
    """The states of the tasks that changed since a moment, which the adapter looks back from by
    two minutes.
    """

    def look(since: datetime | None = None) -> dict[int, TaskState]:
        later = since and since + timedelta(minutes=2)
        return {state.task_id: state for state in label_studio.pull(pushed[0], later).states}

    return look


def annotate(label_studio: LabelStudio, task: int, **fields: object) -> int:
    made = label_studio.client.annotations.create(id=task, result=ACCEPT, lead_time=4.5, **fields)
    return int(made.id)


def test_every_way_of_taking_an_annotation_back_is_seen(label_studio, pushed, states):
    project, ids = pushed
    held = [annotate(label_studio, task) for task in ids[:5]]
    since = label_studio.pull(project).cursor
    assert states(since) == {}
    http = label_studio.client
    http.annotations.delete(id=held[0])
    http.annotations.update(id=held[1], was_cancelled=True)
    http.annotations.update(id=held[2], result=[control_result("verdict", ["reject"])])
    http.actions.create(
        project=project.id,
        id="delete_tasks_annotations",
        selected_items={"all": False, "included": [ids[3]]},
        filters={"conjunction": "and", "items": []},
    )
    seen = {task: (state.submitted, state.skipped) for task, state in states(since).items()}
    assert seen == {ids[0]: ((), 0), ids[1]: ((), 1), ids[2]: ((held[2],), 0), ids[3]: ((), 0)}
    everything = {task: state.submitted for task, state in states().items()}
    assert everything == {task: submitted for task, (submitted, _) in seen.items()} | {
        ids[4]: (held[4],)
    }


def test_a_pull_after_a_pull_reads_what_changed_and_not_what_was_only_imported(
    label_studio, pushed, screen, tasks, states
):
    project, ids = pushed
    annotate(label_studio, ids[0])
    since = label_studio.pull(project).cursor
    again = [QueuedTask(task.task.with_changes(version=2)) for task in tasks]
    label_studio.push(project, again)
    annotate(label_studio, ids[1])
    assert set(states(since)) == {ids[1]}


def test_a_deleted_project_is_made_anew_and_everything_pushed_again(
    label_studio, pushed, screen, tasks
):
    project, _ = pushed
    label_studio.client.projects.delete(project.id)
    assert label_studio.find_project(screen.kind) is None
    with pytest.raises(AnnotationError, match="did not find what was requested"):
        label_studio.push(project, tasks)
    anew = label_studio.ensure_project(screen)
    assert anew.id != project.id
    assert label_studio.push(anew, tasks).created == 6


def test_a_changed_interface_is_reported_and_breaks_neither_push_nor_pull(
    label_studio, pushed, screen, tasks
):
    project, ids = pushed
    annotate(label_studio, ids[0])
    for own in (
        screen.config.replace('name="comment"', 'name="remark"'),  # a control renamed
        '<View><Text name="conversation" value="$request"/></View>',  # all controls taken away
    ):
        label_studio.client.projects.update(project.id, label_config=own)
        found = label_studio.find_project(screen.kind)
        assert found.changed_by_hand
        assert label_studio.ensure_project(screen).changed_by_hand
        assert label_studio.client.projects.get(project.id).label_config == own
        pulled = label_studio.pull(found)
        assert [one.task_id for one in pulled.annotations] == [ids[0]]
        assert pulled.problems == ()
        assert label_studio.push(found, tasks).created == 0
