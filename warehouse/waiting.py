"""Waiting for what another process has open: how long, what is reported, how ctrl-C ends it."""

import asyncio
import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as futures_wait
from contextvars import ContextVar
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

from callwright.warehouse.errors import StoreError

PATIENCE = 600.0  # seconds
QUERY_SECONDS = 300.0  # that SQL of somebody else may take
_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5
# seconds until somebody hears of the wait, and between two such messages
_FIRST_WORD, _BETWEEN = 5.0, 30.0
# seconds between two looks for ctrl-C, and for an interrupted thread to end
_LOOK, _LAST = 0.1, 5.0
_PROCESS = re.compile(r"PID (\d+)")
_SHOWN = 80  # characters of another process's command line

# Set when the work of this context is to stop. Ctrl-C only cancels a task, which a thread never
# hears of, nor a task that waits without `await`.
STOP: ContextVar[Event | None] = ContextVar("STOP", default=None)

_Found = TypeVar("_Found")


class Busy(Exception):  # noqa: N818 - no error yet: it is tried again
    """Another thread or process holds the resource; the message says which."""


def when_free(
    attempt: Callable[[], _Found], what: str, patience: float, tell: Callable[[str], object]
) -> _Found:
    """Return `attempt`'s result once it no longer raises Busy; `tell` hears of a long wait.

    Raises StoreError after `patience` seconds, or when the context's STOP is set (CancelledError
    in a task).
    """
    began = time.monotonic()
    wait, next_word = _FIRST_WAIT, _FIRST_WORD
    while True:
        try:
            return attempt()
        except Busy as busy:
            who = str(busy)
        waited = time.monotonic() - began
        if waited + wait > patience:
            raise StoreError(
                f"{what} stayed locked by {who} for {patience:g} s. Wait for it to end or stop it,"
                " then run the command again; CALLWRIGHT_PATIENCE sets how many seconds to wait."
            )
        if waited > next_word:
            tell(f"{what} is locked by {who}; waited {waited:.0f} s of at most {patience:g} s.")
            next_word += _BETWEEN
        _rest(wait, what)
        wait = min(_LONGEST_WAIT, wait * 2)


def run_aside(
    work: Callable[[], _Found], interrupt: Callable[[], object], seconds: float, what: str
) -> _Found:
    """Return what `work` returns.

    It runs in a thread, so that this one receives Ctrl-C and can end it with `interrupt`.

    Raises StoreError after `seconds` seconds, and CancelledError or StoreError when the
    context's STOP is set.
    """
    result: Future[_Found] = Future()

    def carry() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            result.set_exception(error)

    thread = Thread(target=carry, daemon=True)
    end = time.monotonic() + seconds
    thread.start()
    try:
        while not futures_wait([result], _LOOK).done:
            if is_stopped():
                raise stop_here(what)
            if time.monotonic() > end:
                raise StoreError(f"{what} took longer than {seconds:g} s and was stopped.")
    except BaseException:
        interrupt()
        thread.join(_LAST)
        raise
    return result.result()


def is_stopped() -> bool:
    """Whether the work of this context should stop."""
    stop, task = STOP.get(), _task()
    return (stop is not None and stop.is_set()) or (task is not None and task.cancelling() > 0)


def stop_here(what: str) -> BaseException:
    """Return the error that ends stopped work: CancelledError in a task, else StoreError."""
    if _task() is not None:
        return asyncio.CancelledError()
    return StoreError(f"{what} is not waited for any longer: the command was stopped.")


def _rest(seconds: float, what: str) -> None:
    stop = STOP.get()
    if stop is None:
        time.sleep(seconds)
    else:
        stop.wait(seconds)
    if is_stopped():
        raise stop_here(what)


def _task() -> "asyncio.Task[object] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def holder_of(problem: str) -> str:
    """Return who holds a file, by DuckDB's lock message: process and command line if known."""
    process_match = _PROCESS.search(problem)
    if process_match is None:
        return f"another process ({problem})"
    try:
        words = (
            Path(f"/proc/{process_match[1]}/cmdline")
            .read_bytes()
            .decode(errors="replace")
            .split("\0")
        )
    except OSError:
        words = []
    command = " ".join(filter(None, words))
    shown = f"{command[:_SHOWN]}…" if len(command) > _SHOWN else command
    return f"process {process_match[1]}" + (f" ({shown})" if shown else "")
