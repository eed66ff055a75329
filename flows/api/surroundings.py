"""Support for the Python API: settings of a work folder, progress, an event loop."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from typing import Any, Literal, NamedTuple, TypeVar

from callwright.flows.loops import run_loop
from callwright.flows.progress import Progress, SilentProgress
from callwright.flows.settings import LIBRARY_QUIET, Settings, quiet_vendors, read_settings
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.waiting import STOP

Result = TypeVar("Result")
_TERMINATED = 128 + signal.SIGTERM


class ProgressStep(NamedTuple):
    """The input of a progress function: a sentence, and how many of `total` items are done."""

    sentence: str
    done: int = 0
    total: int = 0


ProgressReceiver = Progress | Callable[[ProgressStep], object] | Literal["terminal"] | None


class ProgressFunction:
    """A Progress that passes each event to a function."""

    def __init__(self, receive: Callable[[ProgressStep], object]) -> None:
        """Start without any progress."""
        self._receive = receive
        self._step = ProgressStep("")

    def say(self, sentence: str) -> None:
        """Report one event worth a line."""
        self._receive(ProgressStep(sentence))

    def begin(self, title: str, total: int) -> None:
        """Report the start of a phase with `total` items."""
        self._step = ProgressStep(title, 0, total)
        self._receive(self._step)

    def advance(self, count: int) -> None:
        """Report that `count` more items are done."""
        self._step = self._step._replace(done=self._step.done + count)
        self._receive(self._step)


@contextmanager
def opened_progress(receiver: ProgressReceiver) -> Iterator[Progress]:
    """Yield the Progress of a receiver: None, "terminal", a function, or a Progress."""
    if receiver is None:
        yield SilentProgress()
    elif receiver == "terminal":
        from callwright.flows.cli.screen import Terminal

        with Terminal() as screen:
            yield screen
    elif callable(receiver):
        yield ProgressFunction(receiver)
    elif isinstance(receiver, str):
        problem = f"progress must be 'terminal', a function or None, not {receiver!r}."
        raise ConfigurationError(problem)
    else:
        yield receiver


def settings_of(home: Path | str | None, *, workers: int | None = None) -> Settings:
    """Return the environment's settings, with the given work folder and workers instead."""
    quiet_vendors(LIBRARY_QUIET)
    settings = read_settings(home=None if home is None else Path(home))
    return settings if workers is None else settings._replace(workers=workers, workplace="local")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine and return its result; inside a running loop, in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with _sigterm_as_interrupt():
            return run_loop(work)
    aside = _Aside(work)
    try:
        result: Result = aside.result.result()
        return result
    except BaseException:  # Ctrl-C, which only this thread hears
        aside.cancel()
        raise


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Make SIGTERM end a run as Ctrl-C does, so that answers are kept; then exit with code 143."""
    is_ours = (
        current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    was_asked = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal was_asked
        was_asked = True
        signal.raise_signal(signal.SIGINT)

    if is_ours:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if was_asked:
            raise SystemExit(_TERMINATED) from None
        raise
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


async def run_aside(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own, so that this loop goes on, and return its result."""
    aside = _Aside(work)
    try:
        return await asyncio.wrap_future(aside.result)
    except asyncio.CancelledError:
        aside.cancel()
        raise


class _Aside:
    """A coroutine that runs in a thread."""

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self.result: Future[Any] = Future()
        self._loop = asyncio.new_event_loop()
        self._stop = Event()
        context = copy_context()
        context.run(STOP.set, self._stop)
        self._task = self._loop.create_task(work, context=context)
        Thread(target=self._carry, daemon=True).start()

    def _carry(self) -> None:
        self.result.set_running_or_notify_cancel()  # from here on it is the task that is cancelled
        try:
            self.result.set_result(self._loop.run_until_complete(self._task))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self.result.set_exception(error)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def cancel(self) -> None:
        self._stop.set()
        if not self._task.done():
            self._loop.call_soon_threadsafe(self._task.cancel)
