"""A Label Studio: projects, tasks out, what people did back. Its client is met in `studio_connection` alone."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from callwright.annotation.screens import Screen
from callwright.annotation.studio.connection import StudioConnection
from callwright.annotation.studio.projects import (
    accounts_of,
    ensure_project,
    find_project,
    register_webhook,
    status_of,
    unregister_webhooks,
)
from callwright.annotation.studio.pulling import pull_tasks
from callwright.annotation.studio.records import Project, ProjectStatus, PullResult, PushResult
from callwright.annotation.studio.tasks import Doubles, ask_at_least, missing_tasks, push_tasks, remove_doubles
from callwright.annotation.task import QueuedTask, TaskQueue


class LabelStudio:
    """One Label Studio, by URL and token (a legacy token or a personal access token)."""

    def __init__(self, url: str, token: str, *, name: str = "", timeout: float = 60.0, pause: float = 0.25) -> None:
        """Talk to `url`; reviews remember it by `name`, which outlives a changed port, else by the URL.

        The first try again comes after `pause` seconds, each next one after twice as long.
        """
        self.url = url.rstrip("/")
        self.name = name or self.url
        self._connection = StudioConnection(self.url, token, timeout=timeout, pause=pause)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back; the next question opens new ones."""
        self._connection.close()

    def signed_in_as(self) -> str:
        """The e-mail address of the token's owner; AnnotationError says what is wrong with URL or token."""
        user = self._connection.ask(self._client.users.whoami)
        return str(user.email or user.username)

    def find_project(self, kind: str) -> Project | None:
        """The project of a review kind, found by callwright's mark; None where the server has none."""
        return find_project(self._connection, kind)

    def ensure_project(self, screen: Screen, queues: Sequence[TaskQueue] = ()) -> Project:
        """The project of a screen with its tables, made or brought up to date; what a person changed in it stays as it is."""
        return ensure_project(self._connection, screen, queues)

    def accounts(self) -> set[str]:
        """The e-mail addresses of all who have an account."""
        return set(accounts_of(self._connection))

    def push(self, project: Project, tasks: Sequence[QueuedTask]) -> PushResult:
        """Import the tasks that the project lacks; again, at once or after a crash, none stands there twice."""
        return push_tasks(self._connection, project, tasks)

    def pull(self, project: Project, since: datetime | None = None) -> PullResult:
        """What people did since the `cursor` of the last pull; some may be seen again.

        The states hold every task that changed or has a draft: a task that is not among them has no draft.
        """
        return pull_tasks(self._connection, project, since, self.name)

    def ask_several(self, reviewers: Mapping[int, int]) -> None:
        """Have tasks, by id, answered by at least so many people; who answered one is not shown it again."""
        ask_at_least(self._connection, reviewers)

    def gone(self, project: Project, task_ids: Collection[int]) -> set[int]:
        """Which of these tasks the project does not have any more."""
        return missing_tasks(self._connection, project.id, sorted(task_ids))

    def remove_doubles(self, project: Project, keys: Sequence[str]) -> Doubles:
        """Remove the tasks that stand there a second time under one of these keys, as far as nobody has worked on them."""
        return remove_doubles(self._connection, project, keys)

    def status(self, project: Project) -> ProjectStatus:
        """How many tasks a project has and how many of them people have finished."""
        return status_of(self._connection, project)

    def register_webhook(self, project: Project, url: str, secret: str) -> bool:
        """Have a project tell `url` at once what people do, with a secret; whether it did not do so already."""
        return register_webhook(self._connection, project, url, secret)

    def unregister_webhooks(self, project: Project) -> int:
        """Have a project tell nobody of ours any more; to how many addresses it did."""
        return unregister_webhooks(self._connection, project)

    @property
    def _client(self) -> Any:  # noqa: ANN401 - the vendor's client has no types that mypy can use
        return self._connection.client
