"""How many people answer a task: Label Studio shows it to nobody twice, and to others until so many have answered."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from annotation.refusals import MissingError
from annotation.studio_connection import StudioConnection
from annotation.studio_questions import Json

_AT_ONCE = 4
_LOOKS = 5


def ask_at_least(connection: StudioConnection, reviewers: Mapping[int, int]) -> None:
    """Have tasks, by id, answered by so many people; where Label Studio waits for more already, it stays so."""
    _for_each(_raise_overlap, connection, reviewers)


def ask_exactly(connection: StudioConnection, reviewers: Mapping[int, int]) -> None:
    """Have tasks, by id, answered by so many people each."""
    _for_each(_set_overlap, connection, reviewers)


def _for_each(
    action: Callable[[StudioConnection, int, int], None], connection: StudioConnection, reviewers: Mapping[int, int]
) -> None:
    """A few tasks at once: Label Studio takes each by itself."""
    if not reviewers:
        return
    _ = connection.client  # made here once, and not by several threads
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda asked: _unless_gone(action, connection, *asked), reviewers.items()):
            pass


def _unless_gone(
    action: Callable[[StudioConnection, int, int], None], connection: StudioConnection, task: int, people: int
) -> None:
    try:
        action(connection, task, people)
    except MissingError:
        return  # somebody deleted the task; the next pull tells so


def _raise_overlap(connection: StudioConnection, task: int, people: int) -> None:
    if (connection.ask(connection.client.tasks.get, id=str(task)).overlap or 1) < people:
        _set_overlap(connection, task, people)


def _set_overlap(connection: StudioConnection, task: int, people: int) -> None:
    """Tell Label Studio of one task.

    It counts anew whether a task is done only when the next annotation comes: until then one that was done stays so, and
    would be shown to nobody. So where people have answered, it is told that too; and as one may answer at this very
    moment, what it was told is looked at again.
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
    """How many people have answered a task; whoever skipped it has not."""
    held = connection.ask(connection.client.annotations.list, id=task)
    return len({_person(one.completed_by) for one in held if not one.was_cancelled})


def _person(completed_by: Any) -> object:  # noqa: ANN401 - an id, or an object with one
    return completed_by.get("id") if isinstance(completed_by, dict) else getattr(completed_by, "id", completed_by)


def _patch(connection: StudioConnection, task: int, body: Json) -> Any:  # noqa: ANN401 - the vendor's task
    update = connection.client.tasks.update
    return connection.ask(update, id=str(task), request_options={"additional_body_parameters": body})
