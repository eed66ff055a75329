"""Pushing to and pulling from a server that fails on purpose: nothing lost, nothing twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.projects import UNANSWERED, filter_on
from callwright.annotation.studio.records import Project
from callwright.annotation.studio.tasks import list_tasks
from callwright.warehouse.errors import AnnotationError, TransientError
from tests.support.annotation.pretend_studio import NOW, PretendStudio, Trouble

pytestmark = pytest.mark.enable_socket
PROJECT = Project(id=1, kind="sample_review", title="t", url="u")


@pytest.fixture
def studio() -> Iterator[PretendStudio]:
    made = PretendStudio()
    yield made
    made.close()


@pytest.fixture
def client(studio: PretendStudio) -> Iterator[LabelStudio]:
    with LabelStudio(studio.url, "a" * 40, timeout=5, pause=0.01) as opened:
        yield opened


@pytest.fixture
def tasks(make_sample, tools) -> list[QueuedTask]:
    return [
        QueuedTask(
            review_task(make_sample(number=number), tools, [], reason="-"), priority=number / 10
        )
        for number in range(5)
    ]


def annotation(number: int, person: int = 1, *, skipped: bool = False) -> dict[str, object]:
    return {
        "id": number,
        "completed_by": person,
        "was_cancelled": skipped,
        "result": [],
        "updated_at": NOW,
        "created_at": NOW,
        "lead_time": 2.0,
    }


def test_the_worthiest_task_is_imported_first(studio, client, tasks):
    assert client.push(PROJECT, tasks).created == 5
    assert [task["data"]["priority"] for task in studio.tasks.values()] == [
        "0.400000",
        "0.300000",
        "0.200000",
        "0.100000",
        "0.000000",
    ]


@pytest.mark.parametrize("status", [500, 429, 503, 0])
@pytest.mark.parametrize("is_done", [False, True])
def test_an_import_that_failed_is_made_once_whether_it_had_arrived_or_not(
    studio, client, tasks, status, is_done
):
    studio.troubles = [
        Trouble("POST", "/import", status, is_done=is_done, headers={"Retry-After": "0"})
    ]
    result = client.push(PROJECT, tasks)
    assert sorted(studio.keys()) == sorted(task.callwright_key for task in tasks)
    assert result.task_ids == {
        task["data"]["callwright_key"]: number for number, task in studio.tasks.items()
    }
    assert studio.posts() == (1 if is_done else 2)


def test_a_push_after_a_crash_finds_what_it_had_made(studio, client, tasks):
    studio.troubles = [Trouble("GET", "/api/tasks", 500) for _ in range(9)]
    with pytest.raises(TransientError):
        client.push(PROJECT, tasks)
    studio.troubles = []
    assert len(studio.tasks) == 5
    result = client.push(PROJECT, tasks)
    assert (result.created, result.already_there, len(studio.tasks)) == (0, 5, 5)


def test_of_two_pushes_at_once_each_task_stays_once_and_both_know_its_number(studio, tasks):
    meet = Barrier(2, timeout=10)

    def wait(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/import"):
            meet.wait()

    studio.before = wait

    def push(_side: int) -> dict[str, int]:
        with LabelStudio(studio.url, "a" * 40, timeout=5, pause=0.01) as own:
            return own.push(PROJECT, tasks).task_ids

    with ThreadPoolExecutor(2) as sides:
        one, other = sides.map(push, range(2))
    assert sorted(studio.keys()) == sorted(task.callwright_key for task in tasks)
    assert (
        one
        == other
        == {task["data"]["callwright_key"]: number for number, task in studio.tasks.items()}
    )


def test_a_task_that_enough_people_answered_is_not_opened_again_by_a_push_after_a_crash(
    studio, client, tasks
):
    done = studio.add(
        tasks[0].data(), annotations=[annotation(1, 1), annotation(2, 2)], is_labeled=True
    )
    twice = studio.add(
        tasks[1].data(), annotations=[annotation(3, 1), annotation(4, 1)], is_labeled=True
    )
    skipped = studio.add(
        tasks[2].data(),
        annotations=[annotation(5, 1), annotation(6, 2, skipped=True)],
        is_labeled=True,
    )
    client.push(PROJECT, [task._replace(reviewers=2) for task in tasks[:3]])
    assert {number: studio.tasks[number]["is_labeled"] for number in (done, twice, skipped)} == {
        done: True,
        twice: False,
        skipped: False,
    }


@pytest.mark.parametrize("status", [500, 429, "cut", 0])
def test_a_pull_that_is_disturbed_once_brings_everything(studio, client, tasks, status):
    for number, task in enumerate(tasks):
        studio.add(task.data(), annotations=[annotation(number + 1)])
    for path in ("/export", "/api/tasks", "/api/users"):
        studio.troubles.append(Trouble("GET", path, status, headers={"Retry-After": "0"}))
    assert len(client.pull(PROJECT).annotations) == 5
    assert studio.troubles == []


def test_an_export_that_is_cut_short_every_time_is_told_and_not_taken_for_the_whole(
    studio, client, tasks
):
    studio.add(tasks[0].data(), annotations=[annotation(1)])
    studio.troubles = [Trouble("GET", "/export", "cut") for _ in range(9)]
    with pytest.raises(TransientError, match="did not finish its answer"):
        client.pull(PROJECT)


def test_skips_drafts_and_emptied_tasks_are_states(studio, client, tasks):
    skipped = studio.add(tasks[0].data(), annotations=[annotation(1, skipped=True)])
    begun = studio.add(tasks[1].data(), drafts=[{"id": 1}, {"id": 2}])
    emptied = studio.add(tasks[2].data(), updated_by=1)
    studio.add(tasks[3].data())
    states = {state.task_id: state for state in client.pull(PROJECT).states}
    assert {
        number: (state.submitted, state.skipped, state.drafts) for number, state in states.items()
    } == {skipped: ((), 1, 0), begun: ((), 0, 2), emptied: ((), 0, 0)}


def test_a_server_that_took_fewer_tasks_than_it_was_given_is_not_believed(studio, client, tasks):
    studio.overlap = 1
    true_answer = studio.answer

    def half(method: str, path: str, query: object, body: object) -> tuple[int, object]:
        status, answer = true_answer(method, path, query, body[:2] if method == "POST" else body)
        return status, answer

    studio.answer = half  # type: ignore[method-assign]
    with pytest.raises(AnnotationError, match="imported 2 of 5 tasks"):
        client.push(PROJECT, tasks)


@pytest.mark.parametrize(
    "trouble", [None, Trouble("GET", "/download", "cut"), Trouble("POST", "/exports", 500)]
)
def test_many_answered_tasks_come_as_one_snapshot_that_is_deleted_again(
    studio, client, tasks, trouble
):
    for number in range(250):
        studio.add(tasks[0].data(), annotations=[annotation(number + 1)])
    skipped = studio.add(tasks[1].data(), annotations=[annotation(900, skipped=True)])
    studio.troubles = [trouble] if trouble else []
    pulled = client.pull(PROJECT)
    assert len({one.annotation_id for one in pulled.annotations}) == len(pulled.annotations) == 251
    assert [state.task_id for state in pulled.states if state.skipped] == [skipped]
    assert "DELETE /api/projects/1/exports/7" in studio.asked
    assert (
        sum(line == "GET /api/projects/1/export" for line in studio.asked) == 1
    )  # of what was only skipped


PAGE_ENDS = [0, 1, 499, 500, 501, 1000]


@pytest.mark.parametrize("most", [100, 1_000_000])
@pytest.mark.parametrize("count", PAGE_ENDS)
def test_a_list_of_tasks_is_read_to_its_end_and_no_further(studio, client, tasks, count, most):
    studio.tasks_a_page = most
    for number in range(count):
        studio.add(tasks[0].data() | {"callwright_key": f"sample_review:{number:032x}:1"})
    listed = list_tasks(client, 1, filter_on(UNANSWERED))
    assert [task.id for task in listed] == [*range(1, count + 1)]


@pytest.mark.parametrize("count", PAGE_ENDS)
def test_any_number_of_answers_is_pulled_at_first_and_later(studio, client, tasks, count):
    first = client.pull(PROJECT)
    for number in range(count):
        studio.add(tasks[0].data(), annotations=[annotation(number + 1)], updated_by=1)
    earlier = datetime.fromisoformat(NOW) - timedelta(hours=1)
    assert len(client.pull(PROJECT, first.cursor).annotations) == count
    assert len(client.pull(PROJECT, earlier).annotations) == count
