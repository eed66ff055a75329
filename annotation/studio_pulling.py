"""What people did in Label Studio, back: annotations, and what stands at each task that changed or is being worked on."""

from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.projects import Project, PullResult
from annotation.pulled import read_moment, read_tasks
from annotation.studio_connection import StudioConnection
from annotation.studio_exports import export_answered, export_tasks
from annotation.studio_questions import (
    ANSWERED,
    BEGUN,
    FOREIGN,
    SKIPPED,
    TOUCHED,
    UNANSWERED,
    UNSKIPPED,
    UNTOUCHED,
    Json,
    condition,
    filter_on,
)
from annotation.studio_tasks import list_tasks

_LOOK_BACK = timedelta(minutes=2)  # a transaction may end after a later one began; reading twice is harmless


def pull_tasks(connection: StudioConnection, project: Project, since: datetime | None, server: str) -> PullResult:
    """The annotations of all tasks that changed after `since`, and their states; `server` is how they are remembered.

    A draft does not count as a change of its task, so tasks with drafts are looked at every time.
    """
    held = _first(connection, project.id) if since is None else _changed(connection, project.id, since)
    moved = [read_moment(task.get("updated_at"), task["id"], "updated_at") for task in held]
    known = {task["id"] for task in held}
    begun = {task["id"] for task in _list(connection, project.id, BEGUN)} - known
    held += export_tasks(connection, project.id, begun)
    ours = [task for task in held if isinstance(task.get("data"), dict) and task["data"].get("callwright_key")]
    reviewers = _reviewers(connection) if any(task.get("annotations") for task in ours) else {}
    found = read_tasks(ours, reviewers, server)
    foreign = _list(connection, project.id, *([] if since is None else [_later(since)]), FOREIGN)
    return PullResult(
        **found._asdict(), cursor=max(moved, default=since), foreign=tuple(task["id"] for task in foreign)
    )


def _first(connection: StudioConnection, project: int) -> list[Json]:
    """All tasks at which anything stands or stood: the first pull, or one after a pull whose data did not fit.

    What was touched is read also where Label Studio counts no annotation: at a busy server its count may miss one.
    """
    emptied = {task["id"] for task in _list(connection, project, TOUCHED, UNANSWERED, UNSKIPPED)}
    skipped = {task["id"] for task in _list(connection, project, SKIPPED, UNANSWERED)}
    answered = export_answered(connection, project)
    if answered is None:
        listed = {task["id"] for task in _list(connection, project, ANSWERED)}
        answered = export_tasks(connection, project, listed)
    return export_tasks(connection, project, emptied | skipped) + answered


def _changed(connection: StudioConnection, project: int, since: datetime) -> list[Json]:
    """All tasks at which something changed; the many that were only imported since are not looked at.

    Where an annotation was imported together with its task, nobody has touched the task, but it has an annotation.
    """
    later = _later(since)
    changed = _list(connection, project, later, TOUCHED) + _list(connection, project, later, UNTOUCHED, ANSWERED)
    exported = export_tasks(connection, project, {task["id"] for task in changed})
    known = {task["id"] for task in exported}
    return exported + [task for task in changed if task["id"] not in known]


def _list(connection: StudioConnection, project: int, *conditions: Json) -> list[Json]:
    return [_bare(task) for task in list_tasks(connection, project, filter_on(*conditions))]


def _bare(task: Any) -> Json:  # noqa: ANN401 - the vendor's task
    """A task without what people wrote on it, in an export's words."""
    return {"id": task.id, "data": task.data, "updated_at": task.updated_at}


def _later(since: datetime) -> Json:
    moment = (since.astimezone(UTC) - _LOOK_BACK).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return condition("updated_at", "greater", "Datetime", moment)


def _reviewers(connection: StudioConnection) -> dict[int, str]:
    users = connection.ask(lambda: list(connection.client.users.list()))
    return {user.id: user.email or user.username or str(user.id) for user in users}
