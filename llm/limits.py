"""How fast a model may be asked: concurrency, requests and tokens a minute, and retries that give way."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random
from typing import NamedTuple

from pydantic import Field
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from llm.chat import RawReply
from warehouse.errors import TransientError
from warehouse.records import Record

# A second more than a minute: of two requests sent a minute apart the first may have travelled longer.
MINUTE = 61.0
FIRST_WAIT = 0.25
LONGEST_WAIT = 30.0


class Limits(Record):
    """What a provider allows and how patient we are; None means as much as you like. Waits are in seconds."""

    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    attempts: int = Field(default=5, ge=1)
    patience: float = Field(default=300.0, ge=0)


class Clock(NamedTuple):
    """Time and sleep, so that tests need not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Sent:
    """One entry of a window."""

    def __init__(self, moment: float, amount: int) -> None:
        self.moment = moment
        self.amount = amount
        self.is_counted = True


class Window:
    """What went out in the last minute: at most `limit` in any 61 seconds."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sent: deque[Sent] = deque()
        self._total = 0

    def wait(self, amount: int, now: float) -> float:
        """The seconds until `amount` fits, 0 where it does now; what is over the limit by itself goes out alone."""
        while self._sent and self._sent[0].moment <= now - MINUTE:
            gone = self._sent.popleft()
            gone.is_counted = False
            self._total -= gone.amount
        excess = self._total + min(amount, self._limit) - self._limit
        until = 0.0
        for sent in self._sent:
            if excess <= 0:
                break
            excess -= sent.amount
            until = sent.moment + MINUTE - now
        return until

    def count(self, amount: int, now: float) -> Sent:
        """Note that `amount` goes out now."""
        sent = Sent(now, amount)
        self._sent.append(sent)
        self._total += amount
        return sent

    def correct(self, sent: Sent, amount: int) -> None:
        """Put the true amount in place of the one that was expected."""
        if sent.is_counted:
            self._total += amount - sent.amount
            sent.amount = amount


class Gate:
    """The one way to a model: a slot, a place in the minute's windows, and other tries where the first one fails."""

    def __init__(self, limits: Limits, *, clock: Clock | None = None, rng: Random | None = None) -> None:
        """Keep `limits`; for one event loop."""
        self._limits = limits
        self._clock = clock or Clock()
        self._rng = rng or Random()
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._requests = None if limits.requests_per_minute is None else Window(limits.requests_per_minute)
        self._tokens = None if limits.tokens_per_minute is None else Window(limits.tokens_per_minute)
        self._turn = asyncio.Lock()

    async def run(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        """What `ask` gives, expected to cost `tokens`; TransientError where no try helped or the wait gets too long.

        The slot is free between tries, and as soon as the answer is there.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            wait=self._pause,
            stop=self._is_enough,
            sleep=self._clock.sleep,
            retry_error_callback=_give_up,
        )
        return await retrying(self._once, ask, tokens)

    async def _once(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        async with self._slots:
            sent = await self._admit(tokens)
            reply = await ask()
        if self._tokens is not None and sent is not None:
            self._tokens.correct(sent, reply.prompt_tokens + reply.completion_tokens or tokens)
        return reply

    async def _admit(self, tokens: int) -> Sent | None:
        if self._requests is None and self._tokens is None:
            return None
        async with self._turn:  # first come, first served; both windows are entered at the moment of sending
            while (wait := self._wait(tokens)) > 0:
                await self._clock.sleep(wait)
            now = self._clock.now()
            if self._requests is not None:
                self._requests.count(1, now)
            return None if self._tokens is None else self._tokens.count(tokens, now)

    def _wait(self, tokens: int) -> float:
        now = self._clock.now()
        requests = 0.0 if self._requests is None else self._requests.wait(1, now)
        return requests if self._tokens is None else max(requests, self._tokens.wait(tokens, now))

    def _pause(self, state: RetryCallState) -> float:
        """The server's own wish, else twice as long each time; with jitter, so that the tries do not come as one."""
        wished = getattr(_problem(state), "retry_after", None)
        if wished is not None:
            return float(wished) + self._rng.uniform(0, FIRST_WAIT)
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0**state.attempt_number)
        return self._rng.uniform(longest / 2, longest)

    def _is_enough(self, state: RetryCallState) -> bool:
        waited = state.idle_for + state.upcoming_sleep
        return state.attempt_number >= self._limits.attempts or waited > self._limits.patience


def _problem(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _give_up(state: RetryCallState) -> RawReply:
    error = _problem(state)
    tries = "once" if state.attempt_number == 1 else f"{state.attempt_number} times"
    raise TransientError(f"{error} It was asked {tries}.", getattr(error, "retry_after", None)) from error
