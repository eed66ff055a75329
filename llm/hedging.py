"""Hedging: a request that is long without an answer is sent a second time, and the first good answer is taken."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from llm.chat import RawReply
from warehouse.errors import CallwrightError

# Told whom to tell when the request goes out.
Ask = Callable[[Callable[[], object]], Awaitable[RawReply]]
# How one may ask: in a slot, in its turn.
Once = Callable[[Callable[[], Awaitable[RawReply]]], Coroutine[Any, Any, RawReply]]


class Hedging:
    """Second requests where the first one is `after` seconds old. For one event loop.

    Each of the two is a request like any other: it takes a slot and a place in the minute's windows, and sets its money
    aside. Nobody knows what the one that is called off has cost; it counts as what was set aside for it.
    """

    def __init__(self, after: float) -> None:
        """A request is old after so many seconds on its way; waiting for a slot or for money makes it no older."""
        self._after = after

    async def first_good(self, once: Once, ask: Ask) -> RawReply:
        """The first good answer to `ask`, which goes by `once`; where both fail, the error of the first.

        The other one is called off, and has given everything back by then.
        """
        loop = asyncio.get_running_loop()
        is_old = loop.create_future()
        timers: list[asyncio.TimerHandle] = []
        under_way: list[asyncio.Task[RawReply]] = []

        async def win(sent: Callable[[], object]) -> RawReply:
            reply = await ask(sent)
            for other in under_way:
                if other is not asyncio.current_task():
                    other.cancel()  # before the slot of this one is free, for the other one may be next in line
            return reply

        try:
            start_timer = partial(_start_timer, timers, self._after, is_old)
            under_way.append(asyncio.create_task(once(partial(win, start_timer))))
            await asyncio.wait([under_way[0], is_old], return_when=asyncio.FIRST_COMPLETED)
            if not under_way[0].done():
                under_way.append(asyncio.create_task(once(partial(win, _nothing))))
            return _best(await asyncio.gather(*under_way, return_exceptions=True))
        finally:
            for timer in timers:
                timer.cancel()
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)


def _start_timer(timers: list[asyncio.TimerHandle], seconds: float, is_old: "asyncio.Future[None]") -> None:
    timers.append(asyncio.get_running_loop().call_later(seconds, is_old.set_result, None))


def _nothing() -> None:
    """Nobody asks when a second request goes out."""


def _best(ended: Sequence[RawReply | BaseException]) -> RawReply:
    """The answer among what came of the requests. A bug is raised: no answer shall hide it."""
    bugs = [one for one in ended if isinstance(one, Exception) and not isinstance(one, CallwrightError)]
    errors = [one for one in ended if isinstance(one, BaseException)]
    for one in ended:
        if isinstance(one, RawReply) and not bugs:
            return one
    raise (bugs or errors)[0]
