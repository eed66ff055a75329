"""The Label Studio in use: the environment's, or the work folder's own; one user at a time."""

import asyncio
import fcntl
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from callwright.annotation.studio import server
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import (
    HOST,
    LOOPBACK,
    Places,
    ServerInfo,
    StudioAddress,
    end,
    free_port,
    launch,
    only_one,
    wait_for,
)
from callwright.flows.progress import Progress
from callwright.flows.settings import Settings, environment
from callwright.warehouse.errors import ConfigurationError

LOCAL = "local"  # how reviews remember the work folder's own server
EDIT_PAGE = "edit-page"  # the file in the work folder that tells where samples are edited by form
EDIT_PORT = 8322
_PATIENCE = 60.0  # seconds


def serve_label_studio(
    settings: Settings, say: Callable[[str], None], address: StudioAddress = LOOPBACK
) -> ServerInfo:
    """Start the local Label Studio, or find it running, and with it the page to edit by form.

    If people reach it under an address other than this machine's own, nobody knows under which
    they would reach the page: `review edit` serves it then. Raises ConfigurationError if the
    public address is not valid.
    """
    url = urlsplit(address.public_url)
    if address.public_url and not (
        url.scheme in {"http", "https"} and url.netloc and not url.query
    ):
        raise ConfigurationError(
            f"--url {address.public_url!r} is not a valid address. An example:"
            " https://review.example.com"
        )
    found = server.start(settings.home, environment(), progress=say, address=address)
    if address.host == HOST and not address.public_url:
        _serve_edit_page(settings)
    return found


def _serve_edit_page(settings: Settings) -> None:
    """Start a supervised process that serves the edit page, unless one does."""
    places = _edit_places(settings)
    places.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(places, _PATIENCE):
        if edit_page_address(settings):
            return
        end(places)
        port = free_port(EDIT_PORT, places.title)
        command = [sys.executable, "-m", "callwright", "review", "edit", "--port", str(port)]
        launch(
            places,
            command,
            port,
            {**environment(), "CALLWRIGHT_HOME": str(settings.home.absolute())},
        )
        wait_for(places, lambda _port: bool(edit_page_address(settings)), _PATIENCE)


def _edit_places(settings: Settings) -> Places:
    return Places(settings.home / "edit-form", "page on which samples are edited")


def stop_label_studio(settings: Settings) -> bool:
    """Stop the local Label Studio and its edit page; whether the former was running."""
    end(_edit_places(settings))
    return server.stop(settings.home)


def label_studio_address(settings: Settings) -> str:
    """Return the address of the Label Studio in use; "" if there is none."""
    if settings.label_studio_url:
        return settings.label_studio_url
    running = server.running(settings.home)
    return running.url if running else ""


def find_label_studio(settings: Settings) -> LabelStudio | None:
    """Return the Label Studio that the environment names, else the local one, else None.

    Raises ConfigurationError if its token is not set.
    """
    if settings.label_studio_url:
        if not settings.label_studio_token:
            raise ConfigurationError(
                f"LABEL_STUDIO_URL is {settings.label_studio_url!r}, but LABEL_STUDIO_API_KEY is "
                "not set. Find your token in Label Studio under Account & Settings."
            )
        return LabelStudio(settings.label_studio_url, settings.label_studio_token)
    running = server.running(settings.home)
    return local_label_studio(running) if running else None


def local_label_studio(running: ServerInfo) -> LabelStudio:
    """Return a client of this work folder's server, with the same name whatever its port."""
    return LabelStudio(running.url, running.token, name=LOCAL)


def require_label_studio(settings: Settings) -> LabelStudio:
    """Return what `find_label_studio` finds. Raises ConfigurationError if there is none."""
    studio = find_label_studio(settings)
    if studio is None:
        raise ConfigurationError(
            "No Label Studio is set or running. Start one with `callwright review serve`, or set "
            "LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY."
        )
    return studio


def edit_page_address(settings: Settings) -> str:
    """Return the address of the edit page, "" if it is not served.

    The server is contacted, because it may have been killed.
    """
    place = settings.home / EDIT_PAGE
    if not place.exists():
        return ""
    address, served = place.read_text(encoding="utf-8").split()
    parts = urlsplit(served)
    try:
        socket.create_connection((str(parts.hostname), parts.port or 0), timeout=2).close()
    except OSError:
        return ""
    return address


_HELD: ContextVar[frozenset[Path]] = ContextVar("review_turns", default=frozenset())
_PAUSE = 0.1


@contextmanager
def review_turn(settings: Settings, progress: Progress) -> Iterator[None]:
    """Hold a work folder's review loop alone, waiting for its holder; reentrant for the holder."""
    with _lock_of(settings) as lock:
        for pause in _tries(lock, progress):
            time.sleep(pause)
        yield


@asynccontextmanager
async def async_review_turn(settings: Settings, progress: Progress) -> AsyncIterator[None]:
    """Wait for a turn as `review_turn` does, without blocking the event loop."""
    with _lock_of(settings) as lock:
        for pause in _tries(lock, progress):
            await asyncio.sleep(pause)
        yield


@contextmanager
def _lock_of(settings: Settings) -> Iterator[IO[str] | None]:
    """Yield the file to lock; None if the caller already holds the lock."""
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = settings.home / "review.lock"
    if path in _HELD.get():
        yield None
        return
    token = _HELD.set(_HELD.get() | {path})
    try:
        with path.open("w") as file:
            yield file
    finally:
        _HELD.reset(token)


def _tries(lock: IO[str] | None, progress: Progress) -> Iterator[float]:
    """Yield the pauses until the lock is held; the system frees it when its holder ends."""
    is_reported = False
    while lock is not None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not is_reported:
                progress.say(
                    "Another push or pull of this work folder is running. Waiting for it to end."
                )
            is_reported = True
            yield _PAUSE
        else:
            return
