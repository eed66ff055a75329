"""Event loops that Ctrl-C ends at once, even while code in them waits for the warehouse.

This includes code in their threads.
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
    """Run a coroutine in its own loop and return its result.

    Unlike asyncio's `run`, which only cancels the task at Ctrl-C, this also stops work that
    waits.
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
