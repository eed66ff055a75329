"""What holds a model's requests back: limits a minute, slots that follow the answers, second tries, a budget; and what is sent."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, NamedTuple

from pydantic import Field

from callwright.llm.chat import RawReply
from callwright.warehouse.errors import BudgetError, CallwrightError, TransientError
from callwright.warehouse.records import Record


class Traffic:
    """Requests of one run, over all of its models: how many were sent, how they ended, and how long an answer takes."""

    def __init__(self) -> None:
        """Nothing is sent yet."""
        self.sent = 0  # tries: what is asked again counts again
        self.answered = 0
        self.failed = 0
        self.cost = 0.0  # US dollars
        self.tokens = 0  # of prompts and answers
        self.last = ""  # the stage and the model that were asked last
        self._seconds = 0.0  # all answers together
        self._began: dict[int, float] = {}

    @property
    def under_way(self) -> int:
        """Requests that wait for their answer."""
        return len(self._began)

    @property
    def seconds_an_answer(self) -> float:
        """How long an answer takes: the mean of those that came, or the longest wait by now where none did."""
        if self.answered:
            return self._seconds / self.answered
        return max(0.0, time.monotonic() - min(self._began.values(), default=time.monotonic()))

    @contextmanager
    def request(self, asked: str) -> Iterator[None]:
        """Count one request of `asked`, from when it is sent to its end."""
        self.sent += 1
        number, self.last = self.sent, asked
        self._began[number] = time.monotonic()
        is_answered = False
        try:
            yield
            is_answered = True
        finally:
            seconds = time.monotonic() - self._began.pop(number)
            if is_answered:
                self.answered += 1
                self._seconds += seconds
            else:
                self.failed += 1


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


@dataclass
class Sent:
    """One entry of a window."""

    moment: float
    amount: int
    is_counted: bool = True


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
                    often = "once" if tries == 1 else f"{tries} times"
                    raise TransientError(f"{error} It was asked {often}.", error.retry_after) from error
            await self._clock.sleep(pause)

    async def once(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        """What `ask` gives at the first try, in a slot and a place of the minute's windows."""
        await self._slots.take()
        try:
            is_limited = self._requests is not None or self._tokens is not None or self._quiet_until > 0
            sent = await self._admit(tokens) if is_limited else None
            reply = await ask()
            self._slots.grow()
        except TransientError as error:
            self._slots.shrink()
            # nobody asks before the server's wish has passed; one beyond all patience ends the requests that meet it
            if error.retry_after and error.retry_after <= self._limits.patience:
                self._quiet_until = max(self._quiet_until, self._clock.now() + error.retry_after)
            raise
        finally:
            self._slots.free()
        if self._tokens is not None and sent is not None:
            self._tokens.correct(sent, reply.prompt_tokens + reply.completion_tokens or tokens)
        return reply

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

    def _pause(self, error: TransientError, tries: int) -> float:
        """The server's own wish, else twice as long each time; with jitter, so that the tries do not come as one."""
        if error.retry_after is not None:
            return error.retry_after + self._rng.uniform(0, FIRST_WAIT)
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0**tries)
        return self._rng.uniform(longest / 2, longest)


_GIVEN_UP = 0.5  # of a slot, for each refusal: were all refused, the slots would halve with every round
_WON_BACK = 8  # rounds of good answers that lead from one slot to all


class Slots:
    """A semaphore whose size follows the answers. One reply in four may be a refusal before it shrinks. For one event loop."""

    def __init__(self, most: int) -> None:
        """Begin with `most` slots; there are never more, and never none."""
        self._most = most
        self._size = float(most)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def size(self) -> int:
        """How many slots there are now."""
        return int(self._size)

    async def take(self) -> None:
        """Wait for a slot; first come, first served."""
        if not self._waiting and self._taken < self.size:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.free()  # it came in the moment of leaving: on to the next one
            raise

    def free(self) -> None:
        """Give a slot back."""
        self._taken -= 1
        while self._waiting and self._taken < self.size:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)

    def grow(self) -> None:
        """The model answered."""
        if self._size < self._most:
            self._size = min(self._most, self._size + max(1.0, self._most / _WON_BACK) / self._size)

    def shrink(self) -> None:
        """The model refused, or did not answer."""
        self._size = max(1.0, self._size - _GIVEN_UP)


# Stated whom to tell when the request goes out.
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
            start_timer = partial(loop.call_later, self._after, is_old.set_result, None)
            under_way.append(asyncio.create_task(once(partial(win, lambda: timers.append(start_timer())))))
            await asyncio.wait([under_way[0], is_old], return_when=asyncio.FIRST_COMPLETED)
            if not under_way[0].done():
                under_way.append(asyncio.create_task(once(partial(win, lambda: None))))
            return _best(await asyncio.gather(*under_way, return_exceptions=True))
        finally:
            for timer in timers:
                timer.cancel()
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)


def _best(ended: Sequence[RawReply | BaseException]) -> RawReply:
    """The answer among what came of the requests. A bug is raised: no answer shall hide it."""
    bugs = [one for one in ended if isinstance(one, Exception) and not isinstance(one, CallwrightError)]
    errors = [one for one in ended if isinstance(one, BaseException)]
    for one in ended:
        if isinstance(one, RawReply) and not bugs:
            return one
    raise (bugs or errors)[0]


class Budget:
    """US dollars that a build may spend; None means no limit. For one event loop."""

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        """Start with what the same build has `spent` before."""
        self.limit = limit
        self.spent = spent
        self._reserved = 0.0
        self._under_way = 0
        self._settled = asyncio.Event()  # the next time; then there is another one

    async def reserve(self, estimate: float) -> None:
        """Set `estimate` aside; waits while only requests under way stand against it. Raises BudgetError."""
        limit = self.limit
        if limit is None:
            return
        while not self._is_over(estimate, limit) and not (self.spent + self._reserved + estimate <= limit):
            await self._settled.wait()
        if self._is_over(estimate, limit):
            raise BudgetError(
                f"The budget of ${limit:.4f} does not allow another request. ${self.spent:.4f} is "
                f"spent, and the next request may cost ${estimate:.4f} (its prompt and the longest reply that "
                "max_tokens or the model allows). Raise the budget and run the same command again. Answered requests "
                "are not sent again."
            )
        self._reserved += estimate
        self._under_way += 1

    def settle(self, estimate: float, cost: float) -> None:
        """Put the true `cost` in place of a reserved `estimate`; 0 where the request failed and is not charged for.

        It waits for nothing, so that money comes back whatever becomes of those who asked.
        """
        self.spent += cost
        if self.limit is None:
            return
        self._under_way -= 1
        # Sums of floats leave dust, and dust must not keep the last waiter waiting.
        self._reserved = self._reserved - estimate if self._under_way else 0.0
        settled, self._settled = self._settled, asyncio.Event()
        settled.set()

    def _is_over(self, estimate: float, limit: float) -> bool:
        return self.spent >= limit or self.spent + estimate > limit
