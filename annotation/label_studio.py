"""Label Studio, met here and nowhere else: projects, tasks out, annotations back."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from itertools import count
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import orjson
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from annotation.projects import (
    Project,
    ProjectStatus,
    PullResult,
    PushResult,
    is_changed_by_hand,
    kind_of,
    surplus,
)
from annotation.pulled import read_annotations, read_moment
from annotation.refusals import interrupted, refusal, unreachable
from annotation.screens import Screen
from annotation.studio_questions import Json, filter_on, project_fields, table_of
from annotation.task import Task
from warehouse.errors import AnnotationError, TransientError

_log = logging.getLogger(__name__)
_ATTEMPTS = 5
_LONGEST_WAIT = 20.0
_KEYS_A_QUERY = 100  # about 5 KB of URL: proxies in front of a server often stop at 8
_TASKS_AN_IMPORT = 500
_TASKS_A_PAGE = 500
_IDS_AN_EXPORT = 200
_OVERLAP = timedelta(minutes=2)  # a transaction may end after a later one began; reading twice is harmless

T = TypeVar("T")


class LabelStudio:
    """One Label Studio, by URL and token (a legacy token or a personal access token)."""

    def __init__(self, url: str, token: str, *, name: str = "", timeout: float = 60.0, pause: float = 0.25) -> None:
        """Talk to `url`; reviews remember it by `name`, which outlives a changed port, else by the URL.

        The first try again comes after `pause` seconds, each next one after twice as long.
        """
        self.url = url.rstrip("/")
        self.name = name or self.url
        self._token = token
        self._timeout = timeout
        self._pause = pause

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back; the next question opens new ones."""
        http = self.__dict__.pop("_http", None)
        if http is not None:
            http.close()
        self.__dict__.pop("_client", None)

    def signed_in_as(self) -> str:
        """The e-mail address of the token's owner; AnnotationError says what is wrong with URL or token."""
        user = self._ask(self._client.users.whoami)
        return str(user.email or user.username)

    def find_project(self, kind: str) -> Project | None:
        """The project of a review kind, found by callwright's mark; None where the server has none."""
        found = [project for project in self._projects() if kind_of(project.description) == kind]
        return self._project(min(found, key=lambda project: project.id), kind) if found else None

    def ensure_project(self, screen: Screen) -> Project:
        """The project of a screen, made or brought up to date; what a person changed in it stays as it is."""
        project = self.find_project(screen.kind)
        if project is None:
            return self._create_project(screen)
        if project.changed_by_hand:
            _log.warning("The labeling interface of %s was changed by hand; callwright leaves it so.", project.url)
            return project
        self._ask(self._client.projects.update, project.id, **project_fields(screen))
        return project

    def push(self, project: Project, tasks: Sequence[Task]) -> PushResult:
        """Import the tasks that the project lacks; again, at once or after a crash, none stands there twice."""
        wanted = {task.callwright_key: task for task in tasks}
        before = self._find(project, list(wanted))
        missing = [key for key in wanted if key not in before]
        made: set[int] = set()
        for keys in _slices(missing, _TASKS_AN_IMPORT):
            made |= self._import(project, {key: wanted[key].data() for key in keys})
        found = before | self._find(project, missing)
        doubles = surplus(found)
        for task in doubles:
            self._delete(task)
        kept = {key: min(task for task, _ in held if task not in doubles) for key, held in found.items()}
        created = sum(task in made for task in kept.values())
        return PushResult(created=created, already_there=len(kept) - created, task_ids=kept)

    def pull(self, project: Project, since: datetime | None = None) -> PullResult:
        """The annotations of all tasks that changed since the `cursor` of the last pull; some may be seen again."""
        moved = {task.id: read_moment(task.updated_at, task.id, "updated_at") for task in self._changed(project, since)}
        held = [task for ids in _slices(list(moved), _IDS_AN_EXPORT) for task in self._export(project, ids)]
        ours = [task for task in held if isinstance(task.get("data"), dict) and "callwright_key" in task["data"]]
        foreign = tuple(task["id"] for task in held if task not in ours)
        reviewers = self._reviewers() if any(task.get("annotations") for task in ours) else {}
        annotations, problems = read_annotations(ours, reviewers, self.name)
        cursor = max(moved.values(), default=since)
        return PullResult(annotations=annotations, cursor=cursor, foreign=foreign, problems=problems)

    def status(self, project: Project) -> ProjectStatus:
        """How many tasks a project has and how many of them people have finished."""
        found = self._ask(self._client.projects.get, project.id)
        return ProjectStatus(
            project=project,
            tasks=found.task_number or 0,
            finished=found.finished_task_number or 0,
            annotations=found.total_annotations_number or 0,
            skipped=found.skipped_annotations_number or 0,
        )

    @cached_property
    def _http(self) -> Any:  # noqa: ANN401 - the vendor's transport, imported only when first needed
        import httpx

        # A proxy of the environment is for the way out, not for this machine.
        return httpx.Client(timeout=self._timeout, follow_redirects=True, trust_env=not _is_loopback(self.url))

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - the vendor's client has no types that mypy can use
        from label_studio_sdk import LabelStudio as Client

        with self._translated():  # an expired personal access token is found here
            return Client(
                base_url=self.url, api_key=self._token, httpx_client=self._http, timeout=self._timeout, max_retries=0
            )

    def _create_project(self, screen: Screen) -> Project:
        made = self._ask(
            self._client.projects.create, title=screen.title, show_instruction=True, **project_fields(screen)
        )
        first = self.find_project(screen.kind)
        if first is None:
            raise AnnotationError(f"The Label Studio at {self.url} made project {made.id} but does not show it.")
        if first.id != made.id:  # somebody else was first; theirs is the one
            self._ask(self._client.projects.delete, made.id)
        else:
            self._ask(self._client.views.create, project=made.id, data=table_of(screen))
        return first

    def _projects(self) -> list[Any]:
        return self._ask(lambda: list(self._client.projects.list(page_size=_TASKS_A_PAGE)))

    def _project(self, found: Any, kind: str) -> Project:  # noqa: ANN401 - the vendor's project
        return Project(
            id=found.id,
            kind=kind,
            title=found.title or "",
            url=f"{self.url}/projects/{found.id}/data",
            changed_by_hand=is_changed_by_hand(found.description, found.label_config),
        )

    def _find(self, project: Project, keys: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """For each key that the project has: its tasks as (id, number of annotations)."""
        found: dict[str, list[tuple[int, int]]] = {}
        for some in _slices(keys, _KEYS_A_QUERY):
            query = filter_on("filter:tasks:data.callwright_key", "in_list", "List", list(some))
            for task in self._tasks(project, query):
                annotations = (task.total_annotations or 0) + (task.cancelled_annotations or 0)
                found.setdefault(task.data["callwright_key"], []).append((task.id, annotations))
        return found

    def _changed(self, project: Project, since: datetime | None) -> Iterator[Any]:
        start = (since or datetime(2000, 1, 1, tzinfo=UTC)).astimezone(UTC) - _OVERLAP
        moment = start.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return self._tasks(project, filter_on("filter:tasks:updated_at", "greater", "Datetime", moment))

    def _tasks(self, project: Project, query: str) -> Iterator[Any]:
        chosen: Json = {"project": project.id, "query": query, "fields": "task_only", "page_size": _TASKS_A_PAGE}
        for page in count(1):
            answer = self._ask(self._client.tasks.list, page=page, **chosen)
            items = answer.items or []
            yield from items
            if len(items) < _TASKS_A_PAGE:
                return

    def _import(self, project: Project, tasks: Mapping[str, Json]) -> set[int]:
        """Import tasks by key; a broken answer does not say whether they arrived, so the server is asked."""
        left = dict(tasks)
        made: set[int] = set()
        for attempt in self._retrying():
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    there = self._find(project, list(left))
                    left = {key: data for key, data in left.items() if key not in there}
                if left:
                    body = [{"data": data} for data in left.values()]
                    with self._translated():
                        answer = self._client.projects.import_tasks(project.id, request=body, return_task_ids=True)
                    made.update((answer.model_extra or {}).get("task_ids") or getattr(answer, "task_ids", None) or ())
        return made

    def _export(self, project: Project, ids: Sequence[int]) -> list[Json]:
        chosen = {"ids[]": [str(task) for task in ids], "download_all_tasks": "true"}
        text = self._ask(self._download, project.id, {"additional_query_parameters": chosen})
        try:
            tasks = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise interrupted(self.url, error) from error
        return list(tasks)

    def _download(self, project: int, options: Json) -> bytes:
        return b"".join(
            self._client.projects.exports.download_sync(project, export_type="JSON", request_options=options)
        )

    def _delete(self, task: int) -> None:
        from label_studio_sdk.core.api_error import ApiError

        try:
            with self._translated():
                self._client.tasks.delete(id=str(task))
        except AnnotationError as error:
            cause = error.__cause__
            if not isinstance(cause, ApiError) or cause.status_code != HTTPStatus.NOT_FOUND:
                raise  # where somebody else was faster, the double is gone and all is well

    def _reviewers(self) -> dict[int, str]:
        users = self._ask(lambda: list(self._client.users.list()))
        return {user.id: user.email or user.username or str(user.id) for user in users}

    def _ask(self, action: Callable[..., T], *args: object, **kwargs: object) -> T:
        """What `action` answers; asked again, a bounded number of times, where the trouble may pass."""
        for attempt in self._retrying():
            with attempt, self._translated():
                return action(*args, **kwargs)
        raise AssertionError("tenacity returns or raises")

    def _retrying(self) -> Retrying:
        return Retrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=self._wait,
            reraise=True,
        )

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        wish = error.retry_after if isinstance(error, TransientError) else None
        return min(_LONGEST_WAIT, wish if wish is not None else self._pause * 2.0 ** (state.attempt_number - 1))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import httpx
        from label_studio_sdk.core.api_error import ApiError

        try:
            yield
        except ApiError as error:
            raise refusal(self.url, error.status_code, error.body, error.headers) from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise unreachable(self.url, error) from error
        except (httpx.TransportError, json.JSONDecodeError) as error:
            raise interrupted(self.url, error) from error


def _slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
