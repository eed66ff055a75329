"""The page's server: it answers on this machine only, reads a published copy, asks no model."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from callwright.flows.pages.look import ASSETS, Look, asset, served_address
from callwright.flows.pages.site import show
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.store import Warehouse

LOCAL = "127.0.0.1"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; form-action"
        " 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES = {"page.css": "text/css", "page.js": "text/javascript"}


class OpenCopy:
    """The published copy, kept open between pages, and reopened when it has been replaced."""

    def __init__(self, warehouse: Warehouse) -> None:
        """Store the copy; the first page opens it."""
        self._warehouse = warehouse
        self._one_page = threading.Lock()
        self._open = ExitStack()
        self._inode = 0

    @contextmanager
    def look(self) -> Iterator[Look]:
        """Yield the current copy for one page at a time."""
        with self._one_page:
            facts = self._warehouse.path.stat()
            if facts.st_ino != self._inode:
                self._open.close()
                self._open.enter_context(self._warehouse.reading())
                self._inode = facts.st_ino
            yield Look(self._warehouse, datetime.fromtimestamp(facts.st_mtime, UTC), served_address)

    def close(self) -> None:
        """Close the copy."""
        self._open.close()


def page_app(copy: Warehouse) -> Starlette:
    """Return the application that shows the copy; it accepts only this machine's host names."""
    opened = OpenCopy(copy)

    def answer(request: Request) -> Response:
        path = request.scope.get("raw_path", b"").decode("ascii", "replace") or request.url.path
        name = path.removeprefix("/")
        if name in ASSETS:
            return PlainTextResponse(asset(name), media_type=_TYPES[name], headers=HEADERS)
        with opened.look() as look:
            page = show(look, path, dict(request.query_params))
            missing = look.render("missing.html", path=unquote(path)) if page is None else ""
        return HTMLResponse(page or missing, 404 if missing else 200, headers=HEADERS)

    return app_for((LOCAL, "localhost"), Route("/{path:path}", answer, methods=["GET"]))


def app_for(hosts: Sequence[str], *routes: Route) -> Starlette:
    """Return an application that answers only requests addressed to one of `hosts`."""
    return Starlette(
        routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))]
    )


class AppServer:
    """A server that already has its port and answers once it is run."""

    def __init__(self, app: Starlette, port: int, host: str = LOCAL) -> None:
        """Open a port, a free one for 0. Raises ConfigurationError if it can't be used."""
        try:
            self._socket = socket.create_server((host, port))
        except OSError as error:
            raise ConfigurationError(
                f"Port {port} of {host} can't be used ({error.strerror}). Choose another one with "
                "--port; 0 takes a free one."
            ) from error
        self.address = f"http://{host}:{self._socket.getsockname()[1]}/"
        settings = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        self._server = uvicorn.Server(settings)

    def run(self) -> None:
        """Serve until stopped."""
        self._server.run([self._socket])

    def close(self) -> None:
        """Release the port if the server was never run."""
        self._socket.close()

    def stop(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
