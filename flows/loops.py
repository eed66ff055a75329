"""Event loops that ctrl-C ends at once, also while code in them or in their threads waits for
the warehouse.
"""

import asyncio
import signal
from collections.abc import Coroutine
from contextvars import copy_context
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import Any, TypeVar

from callwright.warehouse.waiting import STOP

Result = TypeVar("Result")


def run_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a loop of its own and return its result; asyncio's own `run` only
    cancels the task at ctrl-C.
    """
    stop = STOP.get() or Event()

    async def heard() -> Result:
        cancel = signal.getsignal(signal.SIGINT)  # the loop's own
        if not callable(cancel) or current_thread() is not main_thread():
            return await work

        def end(number: int, frame: FrameType | None) -> None:
            stop.set()
            cancel(number, frame)

        signal.signal(signal.SIGINT, end)
        try:
            return await work
        finally:
            signal.signal(signal.SIGINT, cancel)

    context = copy_context()
    context.run(STOP.set, stop)
    return context.run(asyncio.run, heard())
