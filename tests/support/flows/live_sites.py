"""Work folders at a real Label Studio that is met through a door with faults, and what people do
in it meanwhile.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from callwright.annotation.screens import REVIEW_KINDS
from callwright.annotation.studio.client import LabelStudio
from callwright.flows.settings import open_warehouse
from tests.support.annotation.editing import edited, more_of
from tests.support.fault_proxy import FaultProxy, fault_proxy
from tests.support.flows.paper_studio import control_result
from tests.support.flows.review_sites import ReviewSite
from tests.support.flows.small_builds import settings_of
from tests.support.killable_studio import KillableStudio

# What a pull leaves behind; of moments it matters only whether they are there, and the server's
# numbers are its own.
LEFT_BEHIND = (
    "reviews",
    "review_requests",
    "review_rounds",
    "task_states",
    "samples",
    "verdicts",
    "outcomes",
    "acceptances",
    "failures",
)
MOMENTS = {
    "pushed_at",
    "seen_at",
    "made_at",
    "requested_at",
    "withdrawn_at",
    "deleted_at",
    "reviewed_at",
    "accepted_at",
}
NUMBERS = {"task_id", "annotation_id"}  # of the server


class People:
    """What people do at the server, and what stands there."""

    def __init__(self, url: str, token: str) -> None:
        import httpx
        from label_studio_sdk import LabelStudio as Client

        self._http = httpx.Client(timeout=60, trust_env=False)
        self.client: Any = Client(base_url=url, api_key=token, httpx_client=self._http)

    def close(self) -> None:
        self._http.close()

    def projects(self) -> list[int]:
        marks = tuple(f"callwright:{kind} " for kind in REVIEW_KINDS)
        return [
            one.id
            for one in self.client.projects.list()
            if any(mark in (one.description or "") for mark in marks)
        ]

    def remove_projects(self) -> None:
        for project in self.projects():
            self.client.projects.delete(project)

    def tasks(self) -> list[Any]:
        return [
            task
            for project in self.projects()
            for task in self.client.tasks.list(project=project, fields="all")
        ]

    def keys(self) -> list[str]:
        return sorted(task.data["callwright_key"] for task in self.tasks())

    def task_of(self, subject: str) -> Any:
        """The newest task about a sample."""
        return max(
            (task for task in self.tasks() if task.data["subject"] == subject),
            key=lambda task: task.data["version"],
        )

    def second_person(self) -> int:
        """Somebody else who works there."""
        email = "second@localhost.local"
        known = [user.id for user in self.client.users.list() if user.email == email]
        return int(known[0] if known else self.client.users.create(email=email, username=email).id)

    def annotate(
        self, task: int, verdict: str, *, skipped: bool = False, by: int | None = None, **typed: Any
    ) -> int:
        controls = {"verdict": [verdict]} if verdict else {}
        controls |= {
            name: value if isinstance(value, list) else [value] for name, value in typed.items()
        }
        result = [control_result(name, values) for name, values in controls.items()]
        more = {} if by is None else {"completed_by": by}
        made = self.client.annotations.create(
            id=task, result=result, was_cancelled=skipped, lead_time=7.5, **more
        )
        return int(made.id)

    def typed(self, task: int, request: str, more: str = "") -> dict[str, str]:
        """What is sent of a task whose request is reworded, with more lines of calls."""
        rows = self.client.tasks.get(id=str(task)).data["rows"]
        return edited(rows, request) | ({more_of(rows): more} if more else {})

    def change(self, annotation: int, verdict: str, **typed: str) -> None:
        controls = {"verdict": [verdict]} | {name: [value] for name, value in typed.items()}
        result = [control_result(name, values) for name, values in controls.items()]
        self.client.annotations.update(id=annotation, result=result)

    def take_back(self, annotation: int) -> None:
        self.client.annotations.delete(id=annotation)

    def delete(self, task: int) -> None:
        self.client.tasks.delete(id=str(task))


class LiveSite(NamedTuple):
    """A work folder that meets its server through `proxy`; `people` go in by the front door."""

    site: ReviewSite
    proxy: FaultProxy
    people: People
    server: KillableStudio

    def asked(self) -> list[str]:
        """The keys of all tasks that were ever asked for."""
        return [row["key"] for row in self.site.rows(_ASKED)]

    def tasks(self) -> dict[str, int]:
        """The newest task of each sample."""
        found = sorted(self.people.tasks(), key=lambda task: task.data["version"])
        return {task.data["subject"]: task.id for task in found}

    def validate_all_is_there_once(self) -> None:
        """Each task that was asked for stands at the server once, the books say so, and they are
        balanced.
        """
        there = self.people.tasks()
        assert sorted(task.data["callwright_key"] for task in there) == self.asked()
        assert self.site.value("select count(*) from review_queue where pushed_at is null") == 0
        held = {row["key"]: row["task_id"] for row in self.site.rows(_NOTED)}
        assert held == {task.data["callwright_key"]: task.id for task in there}
        self.site.balance()

    def left_behind(self) -> dict[str, list[dict[str, Any]]]:
        """All that pulls and pushes wrote, so that two work folders in which the same was said
        can be compared.
        """
        rows = self.site.warehouse.rows_by_name(
            {table: (f"from {table}", []) for table in LEFT_BEHIND}
        )
        return {
            table: sorted((_plain(table, row) for row in found), key=repr)
            for table, found in rows.items()
        }


_ASKED = "select format('{}:{}:{}', kind, subject, version) as key from review_queue order by 1"
_NOTED = (
    "select format('{}:{}:{}', kind, subject, version) as key, task_id from task_states where"
    " deleted_at is null"
)


def _plain(table: str, row: dict[str, Any]) -> dict[str, Any]:
    left_out = NUMBERS | (
        {"key"} if table == "reviews" else set()
    )  # a review's key is made of its annotation's number
    kept = {name: value for name, value in row.items() if name not in left_out}
    return {name: value is not None if name in MOMENTS else value for name, value in kept.items()}


def local(url: str, token: str, *, timeout: float = 30.0) -> LabelStudio:
    """The adapter, in a hurry; whatever the door, the server is remembered as the work folder's
    own.
    """
    return LabelStudio(url, token, name="local", timeout=timeout, pause=0.01)


def site_at(home: Path, studio: LabelStudio) -> ReviewSite:
    settings = settings_of(home)
    return ReviewSite(settings, studio, open_warehouse(settings))  # type: ignore[arg-type]


@contextmanager
def live_site(model: Path, home: Path, killable: KillableStudio) -> Iterator[LiveSite]:
    """A copy of the work folder `model` at a Label Studio without any of our projects, behind a
    door.
    """
    server = killable.start()
    people = People(server.url, server.token)
    people.remove_projects()
    shutil.copytree(model, home)
    with fault_proxy(server.url) as proxy, local(proxy.url, server.token, timeout=10) as studio:
        yield LiveSite(site_at(home, studio), proxy, people, killable)
    people.close()


def say_different_things(live: LiveSite, subjects: Iterable[str]) -> dict[str, int]:
    """Accept, reject, type what can't be used, and skip, about one of these samples each; the
    annotations by what they say.
    """
    tasks, people = live.tasks(), live.people
    accepted, rejected, broken, skipped = subjects
    return {
        "accept": people.annotate(tasks[accepted], "accept", comment="Good."),
        "reject": people.annotate(tasks[rejected], "reject", reasons=["wrong_value", "other"]),
        "broken": people.annotate(
            tasks[broken], "edit", **people.typed(tasks[broken], "Other words.", more="no line")
        ),
        "skip": people.annotate(tasks[skipped], "", skipped=True),
    }


def edit_politely(live: LiveSite, subject: str) -> int:
    """Edit a sample so that no check minds."""
    task = live.tasks()[subject]
    typed = live.people.typed(task, live.site.polite(subject))
    return live.people.annotate(task, "edit", **typed)
