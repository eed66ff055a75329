"""The Label Studio in use: the environment's, or the work folder's own; one user at a time."""

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from callwright.annotation.studio import server
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import LOOPBACK, ServerInfo, StudioAddress
from callwright.flows.progress import Progress
from callwright.flows.settings import Settings, environment
from callwright.warehouse.errors import ConfigurationError

LOCAL = "local"  # how reviews remember the work folder's own server


def serve_label_studio(
    settings: Settings, say: Callable[[str], None], address: StudioAddress = LOOPBACK
) -> ServerInfo:
    """Start the local Label Studio, or find it running.

    Raises ConfigurationError if the public address is not valid.
    """
    url = urlsplit(address.public_url)
    if address.public_url and not (
        url.scheme in {"http", "https"} and url.netloc and not url.query
    ):
        raise ConfigurationError(
            f"--url {address.public_url!r} is not a valid address. An example:"
            " https://review.example.com"
        )
    return server.start(settings.home, environment(), progress=say, address=address)


def stop_label_studio(settings: Settings) -> bool:
    """Stop the local Label Studio; whether it was running."""
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
