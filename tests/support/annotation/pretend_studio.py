"""A server that answers like a Label Studio with one project, and badly on purpose where a test
says so.
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

NOW = "2026-11-21T09:00:00.000000Z"
_PROJECTS_A_PAGE = 100  # whatever is asked for


class Trouble(NamedTuple):
    """The answer to the next question that matches; where `is_done`, the server does what was asked
    and then fails.

    The status 0 breaks the connection off; "cut" sends half of the true answer.
    """

    method: str
    path: str
    status: int | str = 500
    is_done: bool = False
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


class PretendStudio:
    """Tasks by id in one project (number 1); `before` is called with each question before it is
    answered.
    """

    def __init__(self) -> None:
        self.tasks: dict[int, dict[str, Any]] = {}
        self.overlap = 1
        self.tasks_a_page = 1_000_000
        self.projects: list[dict[str, Any]] = []
        self.users: list[dict[str, Any]] = [{"id": 1, "email": "reviewer@localhost"}]
        self.asked: list[str] = []
        self.troubles: list[Trouble] = []
        self.before: Callable[[str, str], None] = lambda method, path: None
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"studio": self})
        )
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}
        )
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def add(self, data: dict[str, Any], **fields: Any) -> int:
        number = max(self.tasks, default=0) + 1
        plain = {
            "id": number,
            "data": data,
            "overlap": self.overlap,
            "is_labeled": False,
            "annotations": [],
            "drafts": [],
            "updated_at": NOW,
            "updated_by": None,
        }
        self.tasks[number] = plain | fields
        return number

    def keys(self) -> list[str]:
        return [task["data"]["callwright_key"] for task in self.tasks.values()]

    def posts(self) -> int:
        return sum(line.startswith("POST") and "predictions" not in line for line in self.asked)

    def answer(
        self, method: str, path: str, query: dict[str, list[str]], body: Any
    ) -> tuple[int, Any]:
        match path.strip("/").split("/"):
            case ["api", "projects", "1", *rest]:
                return self._project(method, rest, query, body)
            case ["api", "tasks"] if method == "POST":
                number = self.add(body["data"], overlap=body["overlap"])
                return 201, _listed(self.tasks[number])
            case ["api", "tasks"]:
                return self._tasks(query)
            case ["api", "projects"]:
                return self._projects(query)
            case ["api", "tasks", number, *rest]:
                return self._task(method, int(number), rest, body)
            case ["api", "predictions"]:
                return 201, {"id": 1, "task": body["task"], "result": []}
            case ["api", "users"]:
                return 200, self.users
        return 404, {"detail": f"{method} {path}"}

    def _project(
        self, method: str, rest: list[str], query: dict[str, list[str]], body: Any
    ) -> tuple[int, Any]:
        match method, rest:
            case "POST", ["import"]:
                ids = [self.add(**task) for task in body]
                return 201, {"task_count": len(ids), "task_ids": ids}
            case "GET", ["export"]:
                chosen = set(map(int, query.get("ids[]", [])))
                wanted = [
                    task
                    for task in self.tasks.values()
                    if (task["id"] in chosen if chosen else task["annotations"])
                ]
                return 200, wanted
            case "POST", ["exports"]:
                return 201, {"id": 7, "status": "completed"}
            case "GET", ["exports", "7", "download"]:
                return 200, [
                    task for task in self.tasks.values() if _listed(task)["total_annotations"]
                ]
            case "PATCH", []:
                self.overlap = body.get("maximum_annotations", self.overlap)
        return 200, {"id": 1, "task_number": len(self.tasks), "maximum_annotations": self.overlap}

    def _task(self, method: str, number: int, rest: list[str], body: Any) -> tuple[int, Any]:
        if number not in self.tasks:
            return 404, {"detail": "No Task matches the given query."}
        if rest == ["annotations"]:
            return 200, self.tasks[number]["annotations"]
        if method == "DELETE":
            self.tasks.pop(number)
            return 204, None
        self.tasks[number] |= body or {}
        return 200, _listed(self.tasks[number])

    def _tasks(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        filters = json.loads(query["query"][0])["filters"]
        met = [task for task in self.tasks.values() if _meets(task, filters)]
        status, shown = _page(met, query, most=self.tasks_a_page)
        if status != 200:
            return status, shown
        listed = [_listed(task) for task in shown]
        return 200, {
            "tasks": listed,
            "total": len(met),
            "total_annotations": 0,
            "total_predictions": 0,
        }

    def _projects(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        status, shown = _page(self.projects, query, most=_PROJECTS_A_PAGE)
        return status, {"count": len(self.projects), "results": shown} if status == 200 else shown


def _page(held: list[Any], query: dict[str, list[str]], *, most: int) -> tuple[int, Any]:
    """One page of a list; a page past the last is refused, but the first may be empty."""
    size, page = min(most, int(query.get("page_size", ["30"])[0])), int(query.get("page", ["1"])[0])
    if page > max(1, -(-len(held) // size)):
        return 404, {"detail": "Invalid page."}
    return 200, held[(page - 1) * size : page * size]


def _listed(task: dict[str, Any]) -> dict[str, Any]:
    skips = sum(one["was_cancelled"] for one in task["annotations"])
    counts = {"total_annotations": len(task["annotations"]) - skips, "cancelled_annotations": skips}
    return {
        name: value for name, value in task.items() if name not in ("annotations", "drafts")
    } | counts


def _meets(task: dict[str, Any], filters: dict[str, Any]) -> bool:
    found = [_is_so(task, **item) for item in filters["items"]]
    return all(found) if filters["conjunction"] == "and" else any(found)


def _is_so(task: dict[str, Any], filter: str, operator: str, type: str, value: Any) -> bool:  # noqa: A002 - Label Studio's words
    column = filter.removeprefix("filter:tasks:")
    fields = _listed(task) | {f"data.{name}": held for name, held in task["data"].items()}
    held = bool(task["drafts"]) if column == "draft_exists" else fields.get(column)
    match operator:
        case "in_list":
            return held in value
        case "empty":
            return (held in (None, "")) == (value == "true")
        case "greater":
            return held > value
        case "equal":
            return held == (value == "true" if type == "Boolean" else value)
    raise AssertionError(operator)


class _Handler(BaseHTTPRequestHandler):
    studio: PretendStudio

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.studio.before(self.command, parts.path)
        with self.studio.lock:
            self.studio.asked.append(f"{self.command} {parts.path}")
            trouble = self._trouble(parts.path)
            status, text = 200, b""
            if trouble is None or trouble.is_done or trouble.status == "cut":
                said = json.loads(body) if body else None
                status, answer = self.studio.answer(
                    self.command, parts.path, parse_qs(parts.query), said
                )
                text = json.dumps(answer).encode()
        self._send_spoilt(trouble, text) if trouble else self._send(status, text, {})

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names that the standard library calls

    def _trouble(self, path: str) -> Trouble | None:
        for trouble in self.studio.troubles:
            if trouble.method == self.command and trouble.path in path:
                self.studio.troubles.remove(trouble)
                return trouble
        return None

    def _send_spoilt(self, trouble: Trouble, text: bytes) -> None:
        if trouble.status == "cut":
            self._send(200, text[: len(text) // 2], {})
        elif trouble.status:
            self._send(int(trouble.status), b'{"detail": "trouble"}', trouble.headers)
        else:
            self.close_connection = True

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass
