"""Pushes tasks to Label Studio, each once, despite repeats, parallel pushes and crashes."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import orjson

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.studio.connection import MissingError, StudioConnection
from callwright.annotation.studio.projects import (
    KEY,
    ORDER,
    Json,
    as_prediction,
    condition,
    filter_on,
)
from callwright.annotation.studio.records import Project, PushResult, surplus
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import content_key

_TASKS_A_PAGE = 500
_TASKS_AN_IMPORT = 1000
_BYTES_AN_IMPORT = 8_000_000
_Sending = Callable[[Mapping[str, Json]], dict[str, int]]
_AT_ONCE = 4
_LOOKS = 5


class HeldTask(NamedTuple):
    """A task in Label Studio: its number of annotations, the number it needs, and its content.

    `shown` is a hash of the content, "" for a task that was just created.
    """

    id: int
    annotations: int
    overlap: int
    shown: str = ""


def list_tasks(connection: StudioConnection, project: int, query: str) -> Iterator[Any]:
    """Yield the tasks that match a query, without their annotations."""
    chosen: Json = {"project": project, "query": query, "fields": "task_only"}
    chosen["page_size"] = _TASKS_A_PAGE
    seen = 0
    for page in count(1):
        try:
            answer = connection.ask(connection.client.tasks.list, page=page, **chosen)
        except MissingError:
            if page == 1:
                raise
            return  # a page past the last: tasks were deleted meanwhile
        items = answer.items or []
        yield from items
        seen += len(items)
        # a server may give shorter pages than it was asked for
        if not items or seen >= int(answer.response.total):
            return


def count_tasks(connection: StudioConnection, project: int, query: str) -> int:
    """Return how many tasks match a query; much faster than listing them."""
    chosen: Json = {"project": project, "query": query, "fields": "task_only", "page_size": 1}
    return int(connection.ask(connection.client.tasks.list, **chosen).response.total)


def find_tasks(
    connection: StudioConnection, project: int, keys: Sequence[str]
) -> dict[str, list[HeldTask]]:
    """Return, for each key that the project has, its tasks."""
    tasks_by_key: dict[str, list[HeldTask]] = {}
    wanted = set(keys)
    for some in connection.fitting(keys):
        for task in list_tasks(connection, project, _among(KEY, some)):
            key = task.data.get("callwright_key")
            if key in wanted:
                annotations = (task.total_annotations or 0) + (task.cancelled_annotations or 0)
                held = HeldTask(task.id, annotations, task.overlap or 1, _print(task.data))
                tasks_by_key.setdefault(key, []).append(held)
    return tasks_by_key


def _among(column: str, values: Sequence[object]) -> str:
    """The query for tasks whose column has one of these values."""
    return filter_on(condition(column, "in_list", "List", list(values)))


def are_the_only_ones(connection: StudioConnection, project: int, tasks: Mapping[str, int]) -> bool:
    """Whether the project has exactly one task for each key, the one with this id."""
    queries = (_among(KEY, some) for some in connection.fitting(list(tasks)))
    keys = sum(count_tasks(connection, project, one) for one in queries)
    return keys == len(tasks) and not missing_tasks(connection, project, list(tasks.values()))


def missing_tasks(connection: StudioConnection, project: int, ids: Sequence[int]) -> set[int]:
    """Return which of these tasks the project does not have."""
    missing: set[int] = set()
    for some in connection.fitting(ids):
        query = _among("id", some)
        if count_tasks(connection, project, query) < len(some):
            missing |= set(some) - {task.id for task in list_tasks(connection, project, query)}
    return missing


def delete_task(connection: StudioConnection, task: int) -> None:
    """Delete a task; one that is already gone is not an error."""
    with suppress(MissingError):
        connection.ask(connection.client.tasks.delete, id=str(task))


def _loads(tasks: Mapping[str, Json], most: int) -> Iterator[dict[str, Json]]:
    """Yield the tasks in batches that the server accepts, of at most `most` tasks each."""
    load: dict[str, Json] = {}
    used = 0
    for key, data in tasks.items():
        size = len(orjson.dumps(data))
        if load and (len(load) == most or used + size > _BYTES_AN_IMPORT):
            yield load
            load, used = {}, 0
        load[key] = data
        used += size
    if load:
        yield load


def _send(
    connection: StudioConnection, project: int, tasks: Mapping[str, Json], sending: _Sending
) -> dict[str, int]:
    """Send tasks; before a retry, ask the server which ones have already arrived.

    A failed answer does not say whether the tasks arrived.
    """
    left = dict(tasks)
    for attempt in connection.retrying():
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                there = find_tasks(connection, project, list(left))
                left = {key: data for key, data in left.items() if key not in there}
            with connection.translated():
                return sending(left) if left else {}
    raise AssertionError("tenacity returns or raises")


class Doubles(NamedTuple):
    """The IDs of removed tasks, and for each key that had several the task that stays."""

    removed: tuple[int, ...] = ()
    kept: tuple[tuple[str, int], ...] = ()


def remove_doubles(connection: StudioConnection, project: Project, keys: Sequence[str]) -> Doubles:
    """Remove duplicate tasks that nobody has worked on; a project without any is only counted."""
    removed: list[int] = []
    kept_tasks: list[tuple[str, int]] = []
    for some in connection.fitting(keys):
        if count_tasks(connection, project.id, _among(KEY, some)) == len(some):
            continue
        found = find_tasks(connection, project.id, some).items()
        of_key = {key: [(task.id, task.annotations) for task in held] for key, held in found}
        several = {key: held for key, held in of_key.items() if len(held) > 1}
        gone = [task for task in surplus(several) if _is_untouched(connection, task)]
        for task in gone:
            delete_task(connection, task)
        removed += gone
        for key, held in several.items():
            kept_tasks.append((key, min(task for task, _ in held if task not in gone)))
    return Doubles(tuple(removed), tuple(kept_tasks))


def _is_untouched(connection: StudioConnection, task: int) -> bool:
    """Whether a task has no annotations or drafts; one that is gone has none."""
    try:
        held = connection.ask(connection.client.tasks.get, id=str(task))
    except MissingError:
        return True
    return not (held.total_annotations or held.cancelled_annotations or held.drafts)


def ask_people(
    connection: StudioConnection, reviewers: Mapping[int, int], *, or_more: bool = True
) -> None:
    """Set how many people must answer these tasks (by ID).

    With `or_more`, a task for which Label Studio already waits for more people stays as it is.
    """
    if not reviewers:
        return
    _ = connection.client  # made here once, and not by several threads

    def tell(asked: tuple[int, int]) -> None:
        task, people = asked
        with suppress(MissingError):  # somebody deleted the task; the next pull tells so
            held = connection.ask(connection.client.tasks.get, id=str(task)) if or_more else None
            if held is None or (held.overlap or 1) < people:
                _set_overlap(connection, task, people)

    with ThreadPoolExecutor(_AT_ONCE) as pool:  # Label Studio takes each by itself
        deque(pool.map(tell, reviewers.items()), maxlen=0)


def _set_overlap(connection: StudioConnection, task: int, people: int) -> None:
    """Set how many people answer a task.

    Label Studio updates whether a task is done only when the next annotation comes: until then a
    task that was done stays done and would be shown to nobody. So where people have answered,
    that is set too; and as one may answer at this very moment, the answers are counted again.
    """
    if not (_patch(connection, task, {"overlap": people}).total_annotations or 0):
        return
    spoken = _speakers(connection, task)
    for _ in range(_LOOKS):
        _patch(connection, task, {"overlap": people, "is_labeled": spoken >= people})
        before, spoken = spoken, _speakers(connection, task)
        if spoken == before:
            return


def _speakers(connection: StudioConnection, task: int) -> int:
    """Return how many people have answered a task; skipping it doesn't count."""
    held = connection.ask(connection.client.annotations.list, id=task)
    return len({_person(one.completed_by) for one in held if not one.was_cancelled})


def _person(completed_by: Any) -> object:  # noqa: ANN401 - an id, or an object with one
    if isinstance(completed_by, dict):
        return completed_by.get("id")
    return getattr(completed_by, "id", completed_by)


def _patch(connection: StudioConnection, task: int, body: Json) -> Any:  # noqa: ANN401 - the vendor's task
    options = {"additional_body_parameters": body}
    return connection.ask(connection.client.tasks.update, id=str(task), request_options=options)


def push_tasks(
    connection: StudioConnection, project: Project, tasks: Sequence[QueuedTask]
) -> PushResult:
    """Import the tasks that the project lacks, highest priority first, and remove duplicates."""
    wanted = {task.callwright_key: task for task in sorted(tasks, key=lambda task: -task.priority)}
    studio_project = connection.ask(connection.client.projects.get, project.id)
    before = find_tasks(connection, project.id, list(wanted)) if studio_project.task_number else {}
    missing = {key: task for key, task in wanted.items() if key not in before}
    overlap = studio_project.maximum_annotations or 1
    if missing and not studio_project.task_number:
        # Most tasks of an empty project need no setting of their own, where it is told how many
        # people answer these.
        [(most, _)] = Counter(task.reviewers for task in missing.values()).most_common(1)
        if overlap == 1 < most:
            connection.ask(connection.client.projects.update, project.id, maximum_annotations=most)
            overlap = most
    created_ids = _make(
        connection, project.id, missing, overlap, studio_project.model_version or ORDER
    )
    if len(created_ids) == len(missing) and are_the_only_ones(connection, project.id, created_ids):
        tasks_by_key = before | {
            key: [HeldTask(task, 0, missing[key].reviewers)] for key, task in created_ids.items()
        }
    else:
        tasks_by_key = before | find_tasks(connection, project.id, list(missing))
    # Those that stand there a second time go, unless somebody answered them.
    holders = {
        key: [(task.id, task.annotations) for task in held] for key, held in tasks_by_key.items()
    }
    doubles = set(surplus(holders))
    for task in sorted(doubles):
        delete_task(connection, task)
    kept_tasks = {
        key: min(task for task in held if task.id not in doubles)
        for key, held in tasks_by_key.items()
    }
    new = sum(created_ids.get(key) == task.id for key, task in kept_tasks.items())
    # what somebody raised stays
    less = {key for key, task in kept_tasks.items() if task.overlap < wanted[key].reviewers}
    ask_people(
        connection, {kept_tasks[key].id: wanted[key].reviewers for key in less}, or_more=False
    )
    for key, there in kept_tasks.items():  # another version or another language may have made them
        shown = wanted[key].data()
        if there.shown and there.shown != _print(shown):
            _patch(connection, there.id, {"data": shown})
    ids = {key: task.id for key, task in kept_tasks.items()}
    return PushResult(created=new, already_there=len(kept_tasks) - new, task_ids=ids)


def _print(data: Json) -> str:
    """Return a hash that is equal for tasks that show the same, whatever their priority."""
    return content_key({name: value for name, value in data.items() if name != "priority"})


def _make(
    connection: StudioConnection,
    project: int,
    tasks: Mapping[str, QueuedTask],
    overlap: int,
    order: str,
) -> dict[str, int]:
    """Import tasks and return the new IDs by key.

    An import cannot set the number of reviewers, so tasks that need another number than the
    usual `overlap` are created one by one; tasks with more reviewers come first. `order` is the
    name under which the project keeps the order of its tasks. Of an import for which the server
    does not name each task, no IDs are returned, so the caller looks them up.
    """

    def create(left: Mapping[str, Json]) -> dict[str, int]:
        [(key, data)] = left.items()
        asked = {"project": project, "data": data, "overlap": tasks[key].reviewers}
        made = connection.client.tasks.create(**asked).id
        connection.client.predictions.create(task=made, **as_prediction(data, order))
        return {key: made}

    def take_in(left: Mapping[str, Json]) -> dict[str, int]:
        body = [{"data": one, "predictions": [as_prediction(one, order)]} for one in left.values()]
        take = connection.client.projects.import_tasks
        answer = take(project, request=body, return_task_ids=True)
        if answer.task_count is not None and answer.task_count != len(left):
            raise AnnotationError(
                f"Label Studio imported {answer.task_count} of {len(left)} tasks. Push again"
                " to send the missing ones."
            )
        ids = (answer.model_extra or {}).get("task_ids") or getattr(answer, "task_ids", None) or ()
        return dict(zip(left, ids, strict=True)) if len(ids) == len(left) else {}

    created_ids: dict[str, int] = {}
    ways = ((overlap.__lt__, create), (overlap.__eq__, take_in), (overlap.__gt__, create))
    for is_such, sending in ways:
        some = {key: task.data() for key, task in tasks.items() if is_such(task.reviewers)}
        for load in _loads(some, 1 if sending is create else _TASKS_AN_IMPORT):
            created_ids |= _send(connection, project, load, sending)
    return created_ids
