"""The tasks of a project in Label Studio: found by our keys, counted, imported, deleted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import orjson

from annotation.refusals import MissingError
from annotation.studio_connection import StudioConnection
from annotation.studio_questions import KEY, Json, as_prediction, condition, filter_on
from warehouse.errors import AnnotationError

_TASKS_A_PAGE = 500
_TASKS_AN_IMPORT = 1000
_BYTES_AN_IMPORT = 8_000_000


class Standing(NamedTuple):
    """A task as Label Studio has it: how many annotations it holds, and how many people it waits for in all."""

    id: int
    annotations: int
    overlap: int


def list_tasks(connection: StudioConnection, project: int, query: str) -> Iterator[Any]:
    """The tasks that meet a query, without their annotations."""
    chosen: Json = {"project": project, "query": query, "fields": "task_only", "page_size": _TASKS_A_PAGE}
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
        if not items or seen >= int(answer.response.total):  # a server may give shorter pages than it was asked for
            return


def count_tasks(connection: StudioConnection, project: int, query: str) -> int:
    """How many tasks meet a query; far faster than to list them."""
    chosen: Json = {"project": project, "query": query, "fields": "task_only", "page_size": 1}
    return int(connection.ask(connection.client.tasks.list, **chosen).response.total)


def find_tasks(connection: StudioConnection, project: int, keys: Sequence[str]) -> dict[str, list[Standing]]:
    """For each key that the project has: its tasks."""
    found: dict[str, list[Standing]] = {}
    wanted = set(keys)
    for some in connection.fitting(keys):
        for task in list_tasks(connection, project, filter_on(condition(KEY, "in_list", "List", list(some)))):
            key = task.data.get("callwright_key")
            if key in wanted:
                annotations = (task.total_annotations or 0) + (task.cancelled_annotations or 0)
                found.setdefault(key, []).append(Standing(task.id, annotations, task.overlap or 1))
    return found


def are_the_only_ones(connection: StudioConnection, project: int, tasks: Mapping[str, int]) -> bool:
    """Whether of each key the project has the task with this id and no other one."""
    keys = sum(_count_in(connection, project, KEY, some) for some in connection.fitting(list(tasks)))
    return keys == len(tasks) and not missing_tasks(connection, project, list(tasks.values()))


def missing_tasks(connection: StudioConnection, project: int, ids: Sequence[int]) -> set[int]:
    """Which of these tasks the project does not have."""
    missing: set[int] = set()
    for some in connection.fitting(ids):
        if _count_in(connection, project, "id", some) < len(some):
            there = list_tasks(connection, project, filter_on(condition("id", "in_list", "List", list(some))))
            missing |= set(some) - {task.id for task in there}
    return missing


def import_tasks(connection: StudioConnection, project: int, tasks: Mapping[str, Json], order: str) -> dict[str, int]:
    """Import tasks by key: the ids of those that this made, as far as the server named them.

    `order` is the name under which the project keeps the order of its tasks.
    """
    made: dict[str, int] = {}
    for some in _loads(tasks):
        made |= _send(connection, project, some, partial(_import, order=order))
    return made


def create_tasks(
    connection: StudioConnection, project: int, tasks: Mapping[str, Json], people: Mapping[str, int], order: str
) -> dict[str, int]:
    """Make tasks that so many people answer: one by one, for an import can't say how many; their ids as above."""

    def create(connection: StudioConnection, project: int, left: Mapping[str, Json]) -> dict[str, int]:
        [(key, data)] = left.items()
        made = connection.client.tasks.create(project=project, data=data, overlap=people[key]).id
        connection.client.predictions.create(task=made, **as_prediction(data, order))
        return {key: made}

    made: dict[str, int] = {}
    for key, data in tasks.items():
        made |= _send(connection, project, {key: data}, create)
    return made


def delete_task(connection: StudioConnection, task: int) -> None:
    """Delete a task; where somebody else was faster, it is gone and all is well."""
    try:
        connection.ask(connection.client.tasks.delete, id=str(task))
    except MissingError:
        return


def _count_in(connection: StudioConnection, project: int, column: str, values: Sequence[object]) -> int:
    return count_tasks(connection, project, filter_on(condition(column, "in_list", "List", list(values))))


def _loads(tasks: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """The tasks in loads that a server takes at once."""
    load: dict[str, Json] = {}
    used = 0
    for key, data in tasks.items():
        size = len(orjson.dumps(data))
        if load and (len(load) == _TASKS_AN_IMPORT or used + size > _BYTES_AN_IMPORT):
            yield load
            load, used = {}, 0
        load[key] = data
        used += size
    if load:
        yield load


_Sending = Callable[[StudioConnection, int, Mapping[str, Json]], dict[str, int]]


def _send(connection: StudioConnection, project: int, tasks: Mapping[str, Json], sending: _Sending) -> dict[str, int]:
    """Send tasks; a broken answer does not say whether they arrived, so the server is asked before they are sent again."""
    left = dict(tasks)
    for attempt in connection.retrying():
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                there = find_tasks(connection, project, list(left))
                left = {key: data for key, data in left.items() if key not in there}
            with connection.translated():
                return sending(connection, project, left) if left else {}
    raise AssertionError("tenacity returns or raises")


def _import(connection: StudioConnection, project: int, tasks: Mapping[str, Json], *, order: str) -> dict[str, int]:
    """The ids of imported tasks by key; none where the server does not name one for each, so that they are looked up."""
    body = [{"data": data, "predictions": [as_prediction(data, order)]} for data in tasks.values()]
    answer = connection.client.projects.import_tasks(project, request=body, return_task_ids=True)
    if answer.task_count is not None and answer.task_count != len(tasks):
        raise AnnotationError(
            f"Label Studio took {answer.task_count} of {len(tasks)} imported tasks. Push again: those that are missing are "
            "sent anew."
        )
    ids = (answer.model_extra or {}).get("task_ids") or getattr(answer, "task_ids", None) or ()
    return dict(zip(tasks, ids, strict=True)) if len(ids) == len(tasks) else {}
