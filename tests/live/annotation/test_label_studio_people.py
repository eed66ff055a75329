"""Several people at a real Label Studio: who is shown what, and when a task is done."""

from collections.abc import Iterator

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.annotation.studio.server import ServerInfo
from tests.support.flows.paper_studio import control_result
from tests.support.studio_users import StudioUser, invite

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]

ACCEPT = [control_result("verdict", ["accept"])]
REJECT = [control_result("verdict", ["reject"]), control_result("reasons", ["unnatural"])]


@pytest.fixture(scope="module")
def people(
    label_studio_server: ServerInfo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[StudioUser]]:
    """Three people who came by the invitation link."""
    mark = abs(hash(str(tmp_path_factory.getbasetemp()))) % 10**6
    found = [invite(label_studio_server, f"{name}{mark}") for name in ("first", "second", "third")]
    yield found
    for person in found:
        person.close()


@pytest.fixture
def asked(label_studio: LabelStudio, tools, make_sample, request: pytest.FixtureRequest):
    """Push as many tasks as there are numbers, each to be answered by so many people: the
    project, and the tasks' ids.
    """
    kind = f"people_{abs(hash(request.node.nodeid)) % 10**9}"

    def push(*reviewers: int) -> tuple[Project, list[int]]:
        project = label_studio.ensure_project(screen_for("sample_review").with_changes(kind=kind))
        tasks = [
            QueuedTask(
                review_task(make_sample(number=number), tools, [], reason="-").with_changes(
                    kind=kind
                ),
                priority=0.9 - number / 10,
                reviewers=count,
            )
            for number, count in enumerate(reviewers)
        ]
        ids = label_studio.push(project, tasks).task_ids
        return project, [ids[task.callwright_key] for task in tasks]

    return push


def shown(person: StudioUser, project: Project, **how: bool) -> int | None:
    task = person.next_task(project.id, **how)
    return task and task["id"]


def test_a_task_for_two_people_is_shown_to_each_of_them_once_and_to_a_third_when_they_disagree(
    label_studio, asked, people
):
    first, second, third = people
    project, [task] = asked(2)
    assert shown(first, project) == task
    first.annotate(task, ACCEPT)
    assert shown(first, project) is None
    assert shown(second, project) == task
    second.annotate(task, REJECT)
    assert shown(third, project) is None

    label_studio.ask_several({task: 3})
    assert [shown(person, project) for person in (first, second)] == [None, None]
    assert shown(third, project) == task
    third.annotate(task, REJECT)
    assert [shown(person, project) for person in people] == [None, None, None]
    assert sorted(one.reviewer for one in label_studio.pull(project).annotations) == sorted(
        person.email for person in people
    )


def test_the_first_table_holds_what_nobody_has_answered_so_that_nobody_meets_the_word_of_another(
    asked, people
):
    first, second, _ = people
    project, [task] = asked(2)
    assert shown(first, project, as_displayed=True) == task
    first.annotate(task, ACCEPT)
    assert shown(second, project, as_displayed=True) is None
    assert shown(second, project) == task


def test_two_people_at_once_are_shown_two_tasks_where_they_label_all(asked, people):
    """As displayed, Label Studio shows both the same one: it keeps no task from the second."""
    first, second, _ = people
    project, ids = asked(1, 1)
    assert {shown(first, project), shown(second, project)} == set(ids)
    assert (
        shown(first, project, as_displayed=True)
        == shown(second, project, as_displayed=True)
        == ids[0]
    )
