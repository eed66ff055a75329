"""Tasks out to Label Studio, each once: again, at once from two sides, or after a crash."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from annotation.projects import Project, PushResult, surplus
from annotation.studio_connection import StudioConnection
from annotation.studio_overlap import ask_exactly
from annotation.studio_questions import ORDER
from annotation.studio_tasks import Standing, are_the_only_ones, create_tasks, delete_task, find_tasks, import_tasks
from annotation.task import QueuedTask


def push_tasks(connection: StudioConnection, project: Project, tasks: Sequence[QueuedTask]) -> PushResult:
    """Import the tasks that the project lacks, the worthiest first; of those that stand there twice one stays."""
    wanted = {task.callwright_key: task for task in sorted(tasks, key=lambda task: -task.priority)}
    held = connection.ask(connection.client.projects.get, project.id)
    before = find_tasks(connection, project.id, list(wanted)) if held.task_number else {}
    missing = {key: task for key, task in wanted.items() if key not in before}
    overlap = held.maximum_annotations or 1
    if missing and not held.task_number:
        overlap = _expect(connection, project, overlap, missing.values())
    made = _make(connection, project.id, missing, overlap, held.model_version or ORDER)
    if len(made) == len(missing) and are_the_only_ones(connection, project.id, made):
        found = before | {key: [Standing(task, 0, missing[key].reviewers)] for key, task in made.items()}
    else:
        found = before | find_tasks(connection, project.id, list(missing))
    kept = _without_doubles(connection, found)
    new = sum(made.get(key) == task.id for key, task in kept.items())
    less = {key for key, task in kept.items() if task.overlap < wanted[key].reviewers}  # what somebody raised stays
    ask_exactly(connection, {kept[key].id: wanted[key].reviewers for key in less})
    ids = {key: task.id for key, task in kept.items()}
    return PushResult(created=new, already_there=len(kept) - new, task_ids=ids)


def _expect(connection: StudioConnection, project: Project, overlap: int, tasks: Iterable[QueuedTask]) -> int:
    """Tell an empty project how many people answer most of its tasks, so that not each of them has to be told."""
    [(most, _)] = Counter(task.reviewers for task in tasks).most_common(1)
    if overlap == 1 < most:
        connection.ask(connection.client.projects.update, project.id, maximum_annotations=most)
        return most
    return overlap


def _make(
    connection: StudioConnection, project: int, tasks: Mapping[str, QueuedTask], overlap: int, order: str
) -> dict[str, int]:
    """Import tasks; those that other than the usual `overlap` of people answer are made one by one, the more the earlier."""
    more, usual, fewer = (
        {key: task for key, task in tasks.items() if is_such(task.reviewers)}
        for is_such in (overlap.__lt__, overlap.__eq__, overlap.__gt__)
    )
    made: dict[str, int] = {}
    for some in (more, usual, fewer):
        data = {key: task.data() for key, task in some.items()}
        if some is usual:
            made |= import_tasks(connection, project, data, order)
        else:
            made |= create_tasks(connection, project, data, {key: task.reviewers for key, task in some.items()}, order)
    return made


def _without_doubles(connection: StudioConnection, found: Mapping[str, list[Standing]]) -> dict[str, Standing]:
    """The one task of each key; those that stand there a second time are deleted, unless somebody answered them."""
    doubles = set(surplus({key: [(task.id, task.annotations) for task in held] for key, held in found.items()}))
    for task in sorted(doubles):
        delete_task(connection, task)
    return {key: min(task for task in held if task.id not in doubles) for key, held in found.items()}
