"""A reviewer at Label Studio by the session of their own browser: who they are, a task, and an annotation in their name."""

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from callwright.annotation.studio.connection import is_loopback, refusal, unreachable
from callwright.warehouse.errors import AnnotationError

SESSION_COOKIE = "sessionid"
_TIMEOUT = 30.0
_UNKNOWN = (401, 403)
Json = dict[str, Any]  # a foreign server's JSON


class SignedOutError(AnnotationError):
    """Label Studio does not know the session, or it has ended."""


class TaskForReviewer(NamedTuple):
    """A task as a reviewer sees it; `own` is the annotation that they gave before, `draft` what they began, None where none."""

    id: int
    project: int
    data: Mapping[str, Any]
    own: int | None
    draft: int | None


class ReviewerSession:
    """What a person may do at a Label Studio, done with the cookie of their session; nothing of it is kept."""

    def __init__(self, url: str, session: str) -> None:
        """Speak to the Label Studio at `url` alone."""
        import httpx

        token = secrets.token_hex(32)  # Label Studio compares the cookie with the header
        self._url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=self._url,
            timeout=_TIMEOUT,
            trust_env=not is_loopback(url),
            cookies={SESSION_COOKIE: session, "csrftoken": token},
            headers={"X-CSRFToken": token, "Referer": f"{self._url}/"},
        )
        self._person: Json = {}

    def __enter__(self) -> Self:
        """Find out who it is. Raises SignedOutError where Label Studio knows nobody by this session."""
        try:
            self._person = self._ask("GET", "/api/current-user/whoami")
        except AnnotationError:
            self._http.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    @property
    def reviewer(self) -> str:
        """The name under which their answers are kept."""
        return str(self._person.get("email") or self._person.get("username"))

    def task(self, task: int) -> TaskForReviewer:
        """A task that this person may see. Raises MissingError where it is gone."""
        found = self._ask("GET", f"/api/tasks/{task}/")
        own = [one["id"] for one in found.get("annotations") or () if _author(one) == self._person.get("id")]
        drafts = [one["id"] for one in found.get("drafts") or () if not one.get("annotation")]
        return TaskForReviewer(
            id=task,
            project=int(found["project"]),
            data=found["data"],
            own=max(own, default=None),
            draft=max(drafts, default=None),
        )

    def submit(self, task: TaskForReviewer, result: list[Json], seconds: float) -> None:
        """Answer a task, or change the own answer to it; the draft that was begun in Label Studio goes."""
        body: Json = {"result": result, "was_cancelled": False, "lead_time": seconds}
        if task.own is not None:
            self._ask("PATCH", f"/api/annotations/{task.own}/", body)
            return
        self._ask("POST", f"/api/tasks/{task.id}/annotations/", body | ({"draft_id": task.draft} if task.draft else {}))

    def _ask(self, method: str, path: str, body: Json | None = None) -> Json:
        import httpx

        try:
            answer = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise unreachable(self._url, error) from error
        if answer.status_code in _UNKNOWN:
            raise SignedOutError(f"The Label Studio at {self._url} does not know this session.")
        if not answer.is_success:
            raise refusal(self._url, answer.status_code, _body(answer))
        found: Json = answer.json()
        return found


def _author(annotation: Json) -> object:
    author = annotation.get("completed_by")
    return author.get("id") if isinstance(author, dict) else author


def _body(answer: Any) -> object:  # noqa: ANN401 - the vendor's transport
    try:
        return answer.json()
    except ValueError:
        return answer.text
