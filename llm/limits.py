"""How fast a model may be asked: concurrency, requests and tokens a minute, and retries that give way."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random
from typing import NamedTuple

from pydantic import Field

from llm.chat import RawReply
from llm.slots import Slots
from warehouse.errors import TransientError
from warehouse.records import Record

# A second more than a minute: of two requests sent a minute apart the first may have travelled longer.
MINUTE = 61.0
FIRST_WAIT = 0.05
LONGEST_WAIT = 30.0


class Limits(Record):
    """What a provider allows and how patient we are; None means as much as you like. Waits are in seconds."""

    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    attempts: int = Field(default=8, ge=1)
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
        self._slots = Slots(limits.concurrency)
        self._requests = None if limits.requests_per_minute is None else Window(limits.requests_per_minute)
        self._tokens = None if limits.tokens_per_minute is None else Window(limits.tokens_per_minute)
        self._quiet_until = 0.0  # the server's own wish, which holds for all
        self._turn = asyncio.Lock()

    async def run(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        """What `ask` gives, expected to cost `tokens`; TransientError where no try helped or the wait gets too long.

        The slot is free between tries, and as soon as the answer is there.
        """
        return await self.persist(lambda: self.once(ask, tokens))

    async def persist(self, attempt: Callable[[], Awaitable[RawReply]]) -> RawReply:
        """What `attempt` gives, made again where a fault may pass; it asks by `once`, as often as it likes."""
        tries, waited = 0, 0.0
        while True:
            try:
                return await attempt()
            except TransientError as error:
                tries += 1
                pause = self._pause(error, tries)
                waited += pause
                if tries >= self._limits.attempts or waited > self._limits.patience:
                    raise _given_up(error, tries) from error
            await self._clock.sleep(pause)

    async def once(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        """What `ask` gives at the first try, in a slot and a place of the minute's windows."""
        await self._slots.take()
        try:
            sent = await self._admit(tokens) if self._is_limited else None
            reply = await ask()
            self._slots.grow()
        except TransientError as error:
            self._slots.shrink()
            self._heed(error)
            raise
        finally:
            self._slots.free()
        if self._tokens is not None and sent is not None:
            self._tokens.correct(sent, reply.prompt_tokens + reply.completion_tokens or tokens)
        return reply

    @property
    def _is_limited(self) -> bool:
        return self._requests is not None or self._tokens is not None or self._quiet_until > 0

    async def _admit(self, tokens: int) -> Sent | None:
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
        spoken = 0.0 if self._tokens is None else self._tokens.wait(tokens, now)
        return max(requests, spoken, self._quiet_until - now)

    def _heed(self, error: TransientError) -> None:
        """Let nobody ask before the server's wish has passed; one beyond all patience ends the requests that meet it."""
        if error.retry_after and error.retry_after <= self._limits.patience:
            self._quiet_until = max(self._quiet_until, self._clock.now() + error.retry_after)

    def _pause(self, error: TransientError, tries: int) -> float:
        """The server's own wish, else twice as long each time; with jitter, so that the tries do not come as one."""
        if error.retry_after is not None:
            return error.retry_after + self._rng.uniform(0, FIRST_WAIT)
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0**tries)
        return self._rng.uniform(longest / 2, longest)


def _given_up(error: TransientError, tries: int) -> TransientError:
    said = "once" if tries == 1 else f"{tries} times"
    return TransientError(f"{error} It was asked {said}.", error.retry_after)
