"""A Label Studio: projects, tasks out, what people did back. Its client is met in `studio_connection` alone."""

from collections.abc import Collection
from datetime import datetime
from typing import Self

from callwright.annotation.studio import projects, tasks
from callwright.annotation.studio.connection import StudioConnection
from callwright.annotation.studio.pulling import pull_tasks
from callwright.annotation.studio.records import Project, PullResult


class LabelStudio(StudioConnection):
    """One Label Studio, by URL and token (a legacy token or a personal access token), and what is asked of it."""

    def __init__(self, url: str, token: str, *, name: str = "", timeout: float = 60.0, pause: float = 0.25) -> None:
        """Talk to `url`; reviews remember it by `name`, which outlives a changed port, else by the URL.

        The first try again comes after `pause` seconds, each next one after twice as long.
        """
        super().__init__(url.rstrip("/"), token, timeout=timeout, pause=pause)
        self.name = name or self.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    find_project = projects.find_project
    ensure_project = projects.ensure_project
    status = projects.status_of
    register_webhook = projects.register_webhook
    unregister_webhooks = projects.unregister_webhooks
    push = tasks.push_tasks
    ask_several = tasks.ask_at_least
    remove_doubles = tasks.remove_doubles

    def signed_in_as(self) -> str:
        """The e-mail address of the token's owner; AnnotationError says what is wrong with URL or token."""
        user = self.ask(self.client.users.whoami)
        return str(user.email or user.username)

    def accounts(self) -> set[str]:
        """The e-mail addresses of all who have an account."""
        return set(projects.accounts_of(self))

    def pull(self, project: Project, since: datetime | None = None) -> PullResult:
        """What people did since the `cursor` of the last pull; some may be seen again.

        The states hold every task that changed or has a draft: a task that is not among them has no draft.
        """
        return pull_tasks(self, project, since, self.name)

    def gone(self, project: Project, task_ids: Collection[int]) -> set[int]:
        """Which of these tasks the project does not have any more."""
        return tasks.missing_tasks(self, project.id, sorted(task_ids))
