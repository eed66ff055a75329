"""What a flow tells: news in its log and to whoever started it here, and what went wrong as one sentence."""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar, cast

from prefect import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Failed

from flows.progress import Progress, Silence
from warehouse.errors import CallwrightError

Result = TypeVar("Result")
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(progress: Progress) -> Iterator[None]:
    """Let `progress` hear what the flows that are run in here tell, besides their logs."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)


class FlowProgress:
    """Progress of a flow, in its log and to whoever started it here."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self.title, self.total, self.done = "", 0, 0
        self._also: Progress = _listener.get() or Silence()

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        get_run_logger().info("%s", sentence)
        self._also.say(sentence)

    def begin(self, title: str, total: int) -> None:
        """A stretch of work begins."""
        self.title, self.total, self.done = title, total, 0
        get_run_logger().info("%s: %d to do", title, total)
        self._also.begin(title, total)

    def advance(self, count: int) -> None:
        """So many more are done; the log has the tasks for that."""
        self.done += count
        self._also.advance(count)


async def explained(work: Awaitable[Result]) -> Result:
    """The result of a flow's work; what callwright can explain becomes a Failed state of that one sentence.

    Prefect raises the error itself at whoever called the flow, so no caller meets the state.
    """
    try:
        return await work
    except CallwrightError as error:
        return cast("Result", Failed(message=str(error), data=error))


def run_name() -> str:
    """The name of a flow's run: what it is about, by its parameters."""
    given = {name: value for name, value in flow_run.parameters.items() if value}
    about = given.pop("release", "") or Path(str(given.pop("recipe", ""))).stem
    extras = [" and ".join(given["kinds"])] if "kinds" in given else []
    extras += [f"at most {given['limit']} a kind"] if "limit" in given else []
    extras += [str(given["model"])] if "model" in given else []
    return ", ".join([about or "all recipes", *extras])
