"""Further people on a Label Studio, as they come there: by the invitation link and the sign-up
form.
"""

import re
from typing import Any, Self

import httpx

from callwright.annotation.studio.server import ServerInfo

PASSWORD = "a-long-enough-1"


class StudioUser:
    """Somebody signed in at a Label Studio, who does there what the pages do."""

    def __init__(self, url: str, email: str) -> None:
        self.url, self.email, self.password = url, email, PASSWORD
        self._http = httpx.Client(base_url=url, timeout=60, trust_env=False, follow_redirects=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def sign_up(self, invitation: str) -> None:
        """Fill in the form behind an invitation link."""
        page = self._http.get(invitation)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token, f"no form at {invitation}: {page.status_code}"
        form = {"email": self.email, "password": self.password, "csrfmiddlewaretoken": token[1]}
        answer = self._http.post(
            page.url,
            data=form | {"how_find_us": "", "elaborate": ""},
            headers={"Referer": str(page.url)},
        )
        assert "login" not in str(answer.url), answer.text[:500]
        assert self.ask("GET", "/api/current-user/whoami")["email"] == self.email

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        headers = {"X-CSRFToken": self._http.cookies.get("csrftoken", ""), "Referer": self.url}
        answer = self._http.request(method, path, json=body, params=query, headers=headers)
        assert answer.is_success, (answer.status_code, answer.text[:500])
        return answer.json() if answer.content else None

    def next_task(self, project: int, *, as_displayed: bool = False) -> dict[str, Any] | None:
        """The task that "Label All Tasks" shows next, or "Label Tasks As Displayed" in the first
        table of tasks.
        """
        body: dict[str, Any] = {}
        query: dict[str, Any] = {"id": "next_task", "project": project}
        if as_displayed:
            [view, *_] = self.ask("GET", "/api/dm/views/", project=project)
            filters = {"conjunction": "and", "items": []}
            body = {
                "ordering": view["data"].get("ordering", []),
                "filters": view["data"].get("filters", filters),
            }
            query["tabID"] = view["id"]
        headers = {"X-CSRFToken": self._http.cookies.get("csrftoken", ""), "Referer": self.url}
        answer = self._http.post("/api/dm/actions", json=body, params=query, headers=headers)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        assert answer.is_success, (answer.status_code, answer.text[:500])
        found: dict[str, Any] = answer.json()
        return found

    def annotate(self, task: int, result: list[dict[str, Any]], *, skipped: bool = False) -> int:
        """Submit an annotation, or skip; its id."""
        body = {"result": result, "was_cancelled": skipped, "lead_time": 3.5}
        return int(self.ask("POST", f"/api/tasks/{task}/annotations/", body)["id"])


def invite(server: ServerInfo, name: str) -> StudioUser:
    """A new person of the server's organization."""
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        link = http.get("/api/invite", headers={"Authorization": f"Token {server.token}"}).json()[
            "invite_url"
        ]
    person = StudioUser(server.url, f"{name}@localhost.local")
    person.sign_up(link)
    return person
