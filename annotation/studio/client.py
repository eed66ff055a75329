"""A Label Studio client: projects, pushed tasks, annotations, and states of touched tasks."""

import codecs
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Self

from callwright.annotation.studio import projects, tasks
from callwright.annotation.studio.connection import StudioConnection, interrupted
from callwright.annotation.studio.projects import (
    ANSWERED,
    BEGUN,
    FOREIGN,
    SKIPPED,
    TOUCHED,
    UNANSWERED,
    UNSKIPPED,
    UNTOUCHED,
    Json,
    accounts_of,
    condition,
    filter_on,
)
from callwright.annotation.studio.records import Project, PullResult, read_moment, read_tasks
from callwright.annotation.studio.tasks import count_tasks, list_tasks
from callwright.language.packs import packaged

# a transaction may end after a later one began; reading twice is harmless
_LOOK_BACK = timedelta(minutes=2)
_IDS_AN_EXPORT = 200  # the longest tasks are 100 KB each
_MOST_IN_A_SNAPSHOT = 5000  # a server without Redis makes it while it is asked for
_PAUSE = 0.5
_PATIENCE = 120.0
_NAMES = ("callwright_key", "subject", "version")  # the fields of a task that say whose it is
_KEPT = ("id", "updated_at", "annotations", "drafts")  # and what is kept of a task
_BETWEEN = " \t\r\n[,"


class LabelStudio(StudioConnection):
    """A Label Studio by URL and token (legacy or personal access token), and its operations."""

    def __init__(
        self, url: str, token: str, *, name: str = "", timeout: float = 60.0, pause: float = 0.25
    ) -> None:
        """Connect to `url`; reviews store the server as `name`, else as the URL.

        A name stays valid when the port changes. The first retry comes after `pause` seconds,
        and each further one after twice the time.
        """
        super().__init__(url.rstrip("/"), token, timeout=timeout, pause=pause)
        self.name = name or self.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    find_project = projects.find_project
    find_projects = projects.find_projects
    ensure_project = projects.ensure_project
    status = projects.status_of
    register_webhook = projects.register_webhook
    unregister_webhooks = projects.unregister_webhooks
    push = tasks.push_tasks
    ask_several = tasks.ask_people
    remove_doubles = tasks.remove_doubles

    def signed_in_as(self) -> str:
        """Return the token owner's e-mail; AnnotationError says what is wrong with URL or token.

        Returns the user name if there is no e-mail address.
        """
        user = self.ask(self.client.users.whoami)
        return str(user.email or user.username)

    def pull(self, project: Project, since: datetime | None = None) -> PullResult:
        """Return people's changes since the `cursor` of the last pull; some may be repeated.

        The states hold every task that changed or has a draft: a task that is not among them has
        no draft. A draft doesn't count as a change of its task, so tasks with drafts are read
        every time.
        """
        pulled_tasks = (
            _first(self, project.id) if since is None else _changed(self, project.id, since)
        )
        moved = [
            read_moment(task.get("updated_at"), task["id"], "updated_at") for task in pulled_tasks
        ]
        known = {task["id"] for task in pulled_tasks}
        begun = {task["id"] for task in _list(self, project.id, BEGUN)} - known
        pulled_tasks += export_tasks(self, project.id, begun)
        ours = [task for task in pulled_tasks if _is_ours(task.get("data"))]
        accounts = accounts_of(self) if any(task.get("annotations") for task in ours) else {}
        reviewers = {number: account for account, number in accounts.items()}
        found = read_tasks(ours, reviewers, self.name)
        listed = _list(self, project.id, *([] if since is None else [_later(since)]), FOREIGN)
        foreign = tuple(task["id"] for task in listed)
        return PullResult(**found._asdict(), cursor=max(moved, default=since), foreign=foreign)

    def gone(self, project: Project, task_ids: Collection[int]) -> set[int]:
        """Return which of these tasks the project no longer has."""
        return tasks.missing_tasks(self, project.id, sorted(task_ids))


def _first(connection: StudioConnection, project: int) -> list[Json]:
    """Return all tasks with any work, past or present: for a first pull or after a failed one.

    Touched tasks without an annotation are read too, because the count of a busy server may miss
    one.
    """
    emptied = {task["id"] for task in _list(connection, project, TOUCHED, UNANSWERED, UNSKIPPED)}
    skipped = {task["id"] for task in _list(connection, project, SKIPPED, UNANSWERED)}
    answered = export_answered(connection, project)
    if answered is None:
        listed = {task["id"] for task in _list(connection, project, ANSWERED)}
        answered = export_tasks(connection, project, listed)
    return export_tasks(connection, project, emptied | skipped) + answered


def _changed(connection: StudioConnection, project: int, since: datetime) -> list[Json]:
    """Return all tasks that changed since then, without the many that were only imported.

    An imported task that came with an annotation counts as changed although nobody touched it.
    """
    later = _later(since)
    changed = _list(connection, project, later, TOUCHED)
    changed += _list(connection, project, later, UNTOUCHED, ANSWERED)
    exported = export_tasks(connection, project, {task["id"] for task in changed})
    known = {task["id"] for task in exported}
    return exported + [task for task in changed if task["id"] not in known]


def _list(connection: StudioConnection, project: int, *conditions: Json) -> list[Json]:
    return [
        _without_text({"id": task.id, "data": task.data, "updated_at": task.updated_at})
        for task in list_tasks(connection, project, filter_on(*conditions))
    ]


def _without_text(task: Json) -> Json:
    """Return what a pull needs of a task: its key and what people wrote, not the text they saw."""
    task_fields = {name: task[name] for name in _KEPT if name in task}
    shown = task.get("data")
    if isinstance(shown, dict):
        shown = {name: shown[name] for name in _NAMES if name in shown}
    return task_fields | {"data": shown}


def _is_ours(data: object) -> bool:
    return isinstance(data, dict) and bool(data.get("callwright_key"))


def _later(since: datetime) -> Json:
    moment = (since.astimezone(UTC) - _LOOK_BACK).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return condition("updated_at", "greater", "Datetime", moment)


def export_tasks(connection: StudioConnection, project: int, ids: Collection[int]) -> list[Json]:
    """Return these tasks, except those that were deleted meanwhile."""
    exported: list[Json] = []
    answered = filter_on(ANSWERED)
    if len(ids) > _IDS_AN_EXPORT and count_tasks(connection, project, answered) <= 2 * len(ids):
        whole = export_answered(connection, project) or ()
        exported = [task for task in whole if task["id"] in ids]
    left = sorted(set(ids) - {task["id"] for task in exported})
    for start in range(0, len(left), _IDS_AN_EXPORT):
        some = [str(task) for task in left[start : start + _IDS_AN_EXPORT]]
        export_options = {
            "additional_query_parameters": {"ids[]": some, "download_all_tasks": "true"}
        }
        download = connection.client.projects.exports.download_sync
        options = {"export_type": "JSON", "request_options": export_options}
        exported += _read(connection, partial(download, project, **options))
    return exported


def export_answered(connection: StudioConnection, project: int) -> list[Json] | None:
    """Return all answered tasks, or None if fetching them by ID is better (too few or too many)."""
    answered = count_tasks(connection, project, filter_on(ANSWERED))
    if not _IDS_AN_EXPORT < answered <= _MOST_IN_A_SNAPSHOT:
        return None
    exports = connection.client.projects.exports
    kept = packaged("callwright.annotation.studio", "label-studio.yaml")["export"]
    snapshot = connection.ask(exports.create, project, **kept)
    try:
        if not _is_complete(connection, project, snapshot):
            return None
        return _read(
            connection, partial(exports.download, project, snapshot.id, export_type="JSON")
        )
    finally:
        connection.ask(exports.delete, project, snapshot.id)


def _is_complete(connection: StudioConnection, project: int, made: Any) -> bool:  # noqa: ANN401 - the vendor's export
    """Wait for a snapshot; False if the server could not make it or is too busy."""
    end = time.monotonic() + _PATIENCE
    while made.status in ("created", "in_progress") and time.monotonic() < end:
        time.sleep(_PAUSE)
        made = connection.ask(connection.client.projects.exports.get, project, made.id)
    return str(made.status) == "completed"


def _read(connection: StudioConnection, download: Callable[[], Iterable[bytes]]) -> list[Json]:
    """Return the downloaded tasks, parsed as they arrive; retry an interrupted download."""

    def whole() -> list[Json]:
        try:
            return [_without_text(task) for task in read_list(download())]
        except ValueError as error:
            raise interrupted(connection.url, error) from error

    return connection.ask(whole)


def read_list(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Yield the members of a JSON list of objects that arrives in chunks.

    Only the member being read is held in memory: with the text they show, tasks are a hundred
    times larger than their answers. Raises ValueError if the data is not a list or ends early.
    """
    decoder = json.JSONDecoder()
    buffer, wanted = "", 1
    for text in codecs.iterdecode(chunks, "utf-8"):
        buffer, at = buffer + text, 0
        while len(buffer) - at >= wanted:
            at = _next_member(buffer, at)
            try:
                member, at = decoder.raw_decode(buffer, at)
            except json.JSONDecodeError:
                wanted = (
                    2 * (len(buffer) - at) + 1
                )  # a long member is not begun anew with each piece
                break
            yield member
            wanted = 1
        buffer = buffer[at:]
    yield from json.loads(f"[{buffer[_next_member(buffer, 0) :]}")


def _next_member(text: str, at: int) -> int:
    """Return the index of the next member, after the characters between two members."""
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at
