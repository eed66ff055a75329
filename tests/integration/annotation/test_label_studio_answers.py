"""The adapter against a server that answers badly on purpose."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from callwright.annotation.studio.client import LabelStudio
from callwright.warehouse.errors import AnnotationError, TransientError

pytestmark = pytest.mark.enable_socket
USER = {"id": 1, "email": "reviewer@localhost"}

Answer = tuple[int, bytes, dict[str, str]]


class ScriptedServer:
    """A server that gives the next answer of a list, and the last one for ever."""

    def __init__(self, answers: list[Answer]) -> None:
        self.asked: list[str] = []
        left = list(answers)
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(f"{self.command} {self.path.partition('?')[0]}")
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body, headers = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                for name, value in {
                    "Content-Type": "application/json",
                    "Content-Length": str(len(body)),
                    **headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - the name that the standard library calls

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def scripted() -> Iterator[Callable[..., ScriptedServer]]:
    made: list[ScriptedServer] = []

    def make(*answers: Answer) -> ScriptedServer:
        made.append(ScriptedServer(list(answers)))
        return made[-1]

    yield make
    for server in made:
        server.close()


def answer(body: object, status: int = 200, **headers: str) -> Answer:
    return status, json.dumps(body).encode(), headers


@pytest.fixture
def client() -> Iterator[Callable[[str], LabelStudio]]:
    with ExitStack() as opened:
        yield lambda url: opened.enter_context(LabelStudio(url, "a" * 40, timeout=5, pause=0.01))


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_trouble_that_passes_is_waited_out(status, scripted, client):
    server = scripted(answer({}, status), answer({}, status), answer(USER))
    assert client(server.url).signed_in_as() == "reviewer@localhost"
    assert len(server.asked) == 3


def test_trouble_that_stays_ends_after_a_bounded_number_of_tries(scripted, client):
    server = scripted(answer({"detail": "down"}, 500))
    with pytest.raises(TransientError, match="answered 500: down"):
        client(server.url).signed_in_as()
    assert len(server.asked) == 5


def test_a_dead_url_is_named_with_what_to_do(client):
    with pytest.raises(
        AnnotationError,
        match=r"No Label Studio answers at http://127\.0\.0\.1:9 .*callwright review serve",
    ):
        client("http://127.0.0.1:9").signed_in_as()


def test_a_refused_token_is_named_with_what_to_do(scripted, client):
    server = scripted(answer({"detail": "Invalid token."}, 401))
    with pytest.raises(
        AnnotationError, match=r"refused the token \(401: Invalid token\).*Account & Settings"
    ):
        client(server.url).signed_in_as()
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [200, 404])
def test_another_web_server_is_not_taken_for_label_studio(status, scripted, client):
    server = scripted(
        (status, b"<!doctype html><title>Shop</title>", {"Content-Type": "text/html"})
    )
    with pytest.raises(AnnotationError, match="is not the root of a Label Studio"):
        client(server.url).signed_in_as()
