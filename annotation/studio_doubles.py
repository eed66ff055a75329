"""Tasks that stand in Label Studio a second time: one of each key stays."""

from collections.abc import Sequence
from typing import NamedTuple

from annotation.projects import Project, surplus
from annotation.refusals import MissingError
from annotation.studio_connection import StudioConnection
from annotation.studio_questions import KEY, condition, filter_on
from annotation.studio_tasks import count_tasks, delete_task, find_tasks


class Doubles(NamedTuple):
    """The tasks that were removed, and the one that stays of each key that had several, by their ids."""

    removed: tuple[int, ...] = ()
    kept: tuple[tuple[str, int], ...] = ()


def remove_doubles(connection: StudioConnection, project: Project, keys: Sequence[str]) -> Doubles:
    """Remove what stands there twice and nobody has worked on; a project without doubles is only counted in."""
    removed: list[int] = []
    kept: list[tuple[str, int]] = []
    for some in connection.fitting(keys):
        query = filter_on(condition(KEY, "in_list", "List", list(some)))
        if count_tasks(connection, project.id, query) == len(some):
            continue
        found = find_tasks(connection, project.id, some)
        several = {key: [(task.id, task.annotations) for task in held] for key, held in found.items() if len(held) > 1}
        gone = [task for task in surplus(several) if _is_untouched(connection, task)]
        for task in gone:
            delete_task(connection, task)
        removed += gone
        kept += [(key, min(task for task, _ in held if task not in gone)) for key, held in several.items()]
    return Doubles(tuple(removed), tuple(kept))


def _is_untouched(connection: StudioConnection, task: int) -> bool:
    """Whether there is nothing of people at a task; one that is gone has nothing."""
    try:
        held = connection.ask(connection.client.tasks.get, id=str(task))
    except MissingError:
        return True
    return not (held.total_annotations or held.cancelled_annotations or held.drafts)
