"""What functions of the Python API need: settings of a work folder, progress, an event loop."""

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
    """What a progress function is given: a sentence, and how many of `total` items are done."""

    sentence: str
    done: int = 0
    total: int = 0


ProgressReceiver = Progress | Callable[[ProgressStep], object] | Literal["terminal"] | None


class ProgressFunction:
    """A Progress that gives each event to a function."""

    def __init__(self, receive: Callable[[ProgressStep], object]) -> None:
        """Nothing has begun yet."""
        self._receive = receive
        self._step = ProgressStep("")

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        self._receive(ProgressStep(sentence))

    def begin(self, title: str, total: int) -> None:
        """A stretch of work with `total` items begins."""
        self._step = ProgressStep(title, 0, total)
        self._receive(self._step)

    def advance(self, count: int) -> None:
        """So many more items are done."""
        self._step = self._step._replace(done=self._step.done + count)
        self._receive(self._step)


@contextmanager
def opened_progress(receiver: ProgressReceiver) -> Iterator[Progress]:
    """Whoever is told of progress: nobody for None, the terminal, a function, or a Progress."""
    if receiver is None:
        yield SilentProgress()
    elif receiver == "terminal":
        from callwright.flows.cli.screen import Terminal

        with Terminal() as screen:
            yield screen
    elif callable(receiver):
        yield ProgressFunction(receiver)
    elif isinstance(receiver, str):
        raise ConfigurationError(
            f"There is no progress {receiver!r}; it is 'terminal', a function, or None."
        )
    else:
        yield receiver


def settings_of(home: Path | str | None, *, workers: int | None = None) -> Settings:
    """The settings of the environment, but the work folder and the processes that are given."""
    quiet_vendors(LIBRARY_QUIET)
    settings = read_settings(home=None if home is None else Path(home))
    return settings if workers is None else settings._replace(workers=workers, workplace="local")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine gives: run here, or where a loop runs already, in a thread of its own."""
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
    """Within, SIGTERM ends a run as Ctrl-C does, so that what was answered is kept; then the
    process ends with 143.
    """
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
    """What a coroutine gives, run in a thread of its own, so that this loop goes on meanwhile."""
    aside = _Aside(work)
    try:
        return await asyncio.wrap_future(aside.result)
    except asyncio.CancelledError:
        aside.cancel()
        raise


class _Aside:
    """A coroutine under way in a thread."""

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
