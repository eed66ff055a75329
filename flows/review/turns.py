"""Turns in the review loop: of all that push and pull for one work folder, one is at it at a time."""

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from callwright.flows.progress import Progress
from callwright.flows.settings import Settings

_HELD: ContextVar[frozenset[Path]] = ContextVar("review_turns", default=frozenset())
_PAUSE = 0.1


@contextmanager
def review_turn(settings: Settings, progress: Progress) -> Iterator[None]:
    """Have the review loop of a work folder alone, waiting for whoever has it; who has it already has it at once."""
    path = _lock_of(settings)
    if path in _HELD.get():
        yield
        return
    with path.open("w") as file:
        for pause in _tries(file, progress):
            time.sleep(pause)
        with _held(path):
            yield


@asynccontextmanager
async def async_review_turn(settings: Settings, progress: Progress) -> AsyncIterator[None]:
    """As `review_turn`, and others of this loop go on meanwhile."""
    path = _lock_of(settings)
    if path in _HELD.get():
        yield
        return
    with path.open("w") as file:
        for pause in _tries(file, progress):
            await asyncio.sleep(pause)
        with _held(path):
            yield


def _lock_of(settings: Settings) -> Path:
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return settings.home / "review.lock"


def _tries(file: IO[str], progress: Progress) -> Iterator[float]:
    """The pauses until the lock is had; the system frees it when its holder ends, in whatever way."""
    is_reported = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not is_reported:
                progress.say("Another push or pull of this work folder is under way; this one comes after it.")
            is_reported = True
            yield _PAUSE
        else:
            return


@contextmanager
def _held(path: Path) -> Iterator[None]:
    token = _HELD.set(_HELD.get() | {path})
    try:
        yield
    finally:
        _HELD.reset(token)
