"""What paces and counts a model's requests: limits per minute, slots, retries and a budget."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, NamedTuple

from pydantic import Field

from callwright.llm.chat import RawReply
from callwright.warehouse.errors import (
    BudgetError,
    CallwrightError,
    TransientError,
    UnavailableError,
)
from callwright.warehouse.records import Record


class Absence(NamedTuple):
    """A model that can't be reached: why, since when, and how long it is waited for.

    `since` and `until` are seconds of the wall clock.
    """

    reason: str
    since: float
    until: float


class ModelTraffic:
    """Requests of one run to one model."""

    def __init__(self) -> None:
        """Start with no requests."""
        self.answered = 0
        self._seconds = 0.0  # all answers together
        self._began: dict[int, float] = {}

    @property
    def under_way(self) -> int:
        """The number of requests in progress."""
        return len(self._began)

    @property
    def seconds_an_answer(self) -> float:
        """Seconds that an answer takes: their mean, or the longest wait so far if none came."""
        if self.answered:
            return self._seconds / self.answered
        return max(0.0, time.monotonic() - min(self._began.values(), default=time.monotonic()))

    def begin(self, number: int) -> None:
        """Record that request `number` was sent."""
        self._began[number] = time.monotonic()

    def end(self, number: int, *, is_answered: bool) -> None:
        """Record that request `number` has ended."""
        seconds = time.monotonic() - self._began.pop(number)
        if is_answered:
            self.answered += 1
            self._seconds += seconds


class Traffic:
    """Requests of one run over all models: how many, how they ended, how long answers take."""

    def __init__(self) -> None:
        """Start with no requests."""
        self.sent = 0  # tries: what is asked again counts again
        self.failed = 0
        self.cost = 0.0  # US dollars
        self.tokens = 0  # of prompts and answers
        self.last = ""  # the stage and the model that were asked last
        self.absences: dict[str, Absence] = {}  # by model
        self._models: dict[str, ModelTraffic] = defaultdict(ModelTraffic)

    @property
    def answered(self) -> int:
        """The number of requests that were answered."""
        return sum(one.answered for one in self._models.values())

    @property
    def under_way(self) -> int:
        """The number of requests in progress."""
        return sum(one.under_way for one in self._models.values())

    @property
    def slowest(self) -> ModelTraffic:
        """The model with the slowest answers among those being asked: the others wait for it."""
        asked = [one for one in self._models.values() if one.under_way] or [*self._models.values()]
        return max(asked, key=lambda one: one.seconds_an_answer, default=ModelTraffic())

    def note_absence(self, model: str, absence: Absence | None) -> None:
        """Record that a model is unavailable, or with None that it is available again."""
        if absence is None:
            self.absences.pop(model, None)
        else:
            self.absences[model] = absence

    @contextmanager
    def request(self, stage: str, model: str) -> Iterator[None]:
        """Count one request of a stage to a model, from sending it to its end."""
        self.sent += 1
        number, self.last, model_traffic = self.sent, f"{stage} of {model}", self._models[model]
        model_traffic.begin(number)
        is_answered = False
        try:
            yield
            is_answered = True
        finally:
            model_traffic.end(number, is_answered=is_answered)
            self.failed += not is_answered


# A second more than a minute: of two requests sent a minute apart the first may have travelled
# longer.
MINUTE = 61.0
FIRST_WAIT = 0.05
LONGEST_WAIT = 30.0
LONGEST_LOOK = 10.0  # between two looks at a model that is away


class Limits(Record):
    """What a provider allows and how patient we are; None means as much as you like.

    Waits are in seconds.
    """

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
        """Return the seconds until `amount` fits; an amount over the limit is sent alone."""
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
        """Record that `amount` is sent now."""
        sent = Sent(now, amount)
        self._sent.append(sent)
        self._total += amount
        return sent

    def correct(self, sent: Sent, amount: int) -> None:
        """Replace the expected amount by the actual one."""
        if sent.is_counted:
            self._total += amount - sent.amount
            sent.amount = amount


class Door:
    """Shut while a model is away: one request at a time probes it, the others wait.

    For one event loop. The first probe comes after a moment, each later one after twice the
    wait, jittered, and none before the time that the server asked for. After `patience` seconds
    without an answer the door stays shut, and new requests fail at once.
    """

    def __init__(
        self, patience: float, clock: Clock, rng: Random, tell: Callable[[Absence | None], object]
    ) -> None:
        """Start open; `tell` is called with each absence when it begins, and None when it ends."""
        self._patience, self._clock, self._rng, self._tell = patience, clock, rng, tell
        self._looking = asyncio.Lock()
        self._looks = 0
        # of the clock; when it was shut, and when the next look is due
        self._since = self._next = 0.0
        self.is_shut = False
        self._lost: str | None = None  # why it will stay shut

    @property
    def is_lost(self) -> bool:
        """Whether the door will stay shut."""
        return self._lost is not None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait until a request is allowed; yield whether it probes a model that was unavailable.

        Raises UnavailableError when the patience has run out.
        """
        if self.is_shut:
            async with self._looking:
                if self.is_shut:
                    while self._lost is None and (wait := self._next - self._clock.now()) > 0:
                        await self._clock.sleep(wait)
                    self._must_have_hope()
                    yield True
                    return
        yield False

    def shut(self, error: TransientError, *, has_looked: bool) -> None:
        """Shut the door after `error`, or keep it shut; a failed probe lengthens the next wait.

        Raises as `turn` does.
        """
        now = self._clock.now()
        if not self.is_shut:
            self.is_shut, self._looks, self._since, self._next = True, 0, now, now
            self._tell(Absence(str(error), time.time(), time.time() + self._patience))
            has_looked = True
        end = self._since + self._patience
        if has_looked:
            self._looks += 1
            wait = growing_wait(self._looks, LONGEST_LOOK, self._rng)
            self._next = min(max(end, now), now + wait)
        if error.retry_after is not None:
            self._next = max(self._next, now + error.retry_after + self._rng.uniform(0, FIRST_WAIT))
        if now >= end or self._next > end:
            looks = "once" if self._looks == 1 else f"{self._looks} times"
            self._lost = (
                f"{_sentence(error)} It was asked {looks} in {now - self._since:.0f} s. Ask again"
                f" when it is back; its setting patience ({self._patience:g} s) says how long to"
                " wait for it."
            )
            self._tell(None)
        self._must_have_hope()

    def open(self) -> None:
        """Open the door because the model is available again."""
        self.is_shut = False
        self._tell(None)

    def _must_have_hope(self) -> None:
        if self._lost is not None:
            raise UnavailableError(self._lost)


def growing_wait(tries: int, longest: float, rng: Random) -> float:
    """Return a wait that doubles with each try; jitter keeps the tries from coming all at once."""
    most = min(longest, FIRST_WAIT * 2.0**tries)
    return rng.uniform(most / 2, most)


class Gate:
    """The one way to a model: a slot, a place in the minute's windows, and retries on failure."""

    def __init__(
        self,
        limits: Limits,
        *,
        clock: Clock | None = None,
        rng: Random | None = None,
        tell: Callable[[Absence | None], object] = lambda _: None,
    ) -> None:
        """Enforce `limits` within one event loop.

        `tell` is called with each absence of the model as it begins, and with None as it ends.
        """
        self._limits = limits
        self._clock = clock or Clock()
        self._rng = rng or Random()
        self._slots = Slots(limits.concurrency)
        self._door = Door(limits.patience, self._clock, self._rng, tell)
        windows = (limits.requests_per_minute, limits.tokens_per_minute)
        self._requests, self._tokens = (Window(one) if one else None for one in windows)
        self._turn = asyncio.Lock()

    async def run(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        """Return what `ask` returns; `tokens` is its expected size.

        The slot is free between tries, and as soon as the answer is there. Raises TransientError
        if no try helped or the wait gets too long.
        """
        return await self.persist(lambda: self.once(ask, tokens))

    async def persist(self, attempt: Callable[[], Awaitable[RawReply]]) -> RawReply:
        """Return what `attempt` returns, retrying after errors that may pass.

        `attempt` asks through `once`, as often as it likes. A model that is away uses up no
        tries. UnavailableError ends all requests to it; if the model answers others meanwhile,
        this one is retried for `patience`.
        """
        requests, tries, waited = 0, 0, 0.0
        refused_at: float | None = None  # for the first time
        while True:
            try:
                return await attempt()
            except TransientError as error:
                if self._door.is_lost:
                    raise
                requests, pause = requests + 1, 0.0
                if _is_away(error):
                    refused_at = self._clock.now() if refused_at is None else refused_at
                    is_over = self._clock.now() - refused_at > self._limits.patience
                else:
                    tries += 1
                    pause = growing_wait(tries, LONGEST_WAIT, self._rng)
                    waited += pause
                    is_over = tries >= self._limits.attempts or waited > self._limits.patience
                if is_over:
                    often = "once" if requests == 1 else f"{requests} times"
                    problem = f"{_sentence(error)} It was asked {often}."
                    raise TransientError(problem, error.retry_after) from error
            if pause:
                await self._clock.sleep(pause)

    async def once(self, ask: Callable[[], Awaitable[RawReply]], tokens: int) -> RawReply:
        """Return what `ask` returns at the first try.

        It waits for a slot and a place in the minute's windows, and while the model is away.
        """
        await self._slots.take()
        try:
            while True:
                async with self._door.turn() as is_look:
                    is_limited = self._requests is not None or self._tokens is not None
                    sent = await self._admit(tokens) if is_limited else None
                    if self._door.is_shut and not is_look:
                        continue  # it was shut while this one waited for its minute
                    reply = await self._ask(ask, is_look=is_look)
                    break
        finally:
            self._slots.free()
        if self._tokens is not None and sent is not None:
            self._tokens.correct(sent, reply.prompt_tokens + reply.completion_tokens or tokens)
        return reply

    async def _ask(self, ask: Callable[[], Awaitable[RawReply]], *, is_look: bool) -> RawReply:
        try:
            reply = await ask()
        except TransientError as error:
            self._slots.shrink()
            if is_look or _is_away(error):
                self._door.shut(error, has_looked=is_look)
            raise
        except CallwrightError:
            if is_look:  # it has answered, somehow
                self._door.open()
            raise
        self._slots.grow()
        if is_look:
            self._door.open()
        return reply

    async def _admit(self, tokens: int) -> Sent | None:
        # first come, first served; both windows are entered at the moment of sending
        async with self._turn:
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
        return max(requests, spoken)


def _sentence(error: TransientError) -> str:
    """Return the error's message with a full stop, since it may end in a provider's own words."""
    said = str(error)
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _is_away(error: TransientError) -> bool:
    """Whether the model as a whole is unavailable, or asks to wait for a stated time."""
    return isinstance(error, UnavailableError) or error.retry_after is not None


# of a slot, for each refusal: were all refused, the slots would halve with every round
_GIVEN_UP = 0.5
_WON_BACK = 8  # rounds of good answers that lead from one slot to all


class Slots:
    """A semaphore whose size adapts to the answers.

    About one reply in four may be a refusal before it shrinks. For one event loop.
    """

    def __init__(self, most: int) -> None:
        """Start with `most` slots, which is also the maximum; there is always at least one."""
        self._most = most
        self._size = float(most)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def size(self) -> int:
        """The current number of slots."""
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
        """Release a slot."""
        self._taken -= 1
        while self._waiting and self._taken < self.size:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)

    def grow(self) -> None:
        """Grow because the model answered."""
        if self._size < self._most:
            self._size = min(self._most, self._size + max(1.0, self._most / _WON_BACK) / self._size)

    def shrink(self) -> None:
        """Shrink because the model refused or did not answer."""
        self._size = max(1.0, self._size - _GIVEN_UP)


# Stated whom to tell when the request goes out.
Ask = Callable[[Callable[[], object]], Awaitable[RawReply]]
# How one may ask: in a slot, in its turn.
Once = Callable[[Callable[[], Awaitable[RawReply]]], Coroutine[Any, Any, RawReply]]


class Hedging:
    """A second request when the first one is `after` seconds old. For one event loop.

    Each of the two is an ordinary request: it takes a slot and a place in the minute's windows,
    and reserves its money. The cost of the cancelled one is unknown, so its reservation counts
    as its cost.
    """

    def __init__(self, after: float) -> None:
        """Treat a request as old after so many seconds on its way, not counting earlier waits.

        Earlier waits are those for a slot or for money.
        """
        self._after = after

    async def first_good(self, once: Once, ask: Ask) -> RawReply:
        """Return the first good answer to `ask` through `once`.

        If both requests fail, raise the error of the first. Otherwise the slower one is called
        off, and has given everything back by then.
        """
        loop = asyncio.get_running_loop()
        is_old = loop.create_future()
        timers: list[asyncio.TimerHandle] = []
        under_way: list[asyncio.Task[RawReply]] = []

        async def win(sent: Callable[[], object]) -> RawReply:
            reply = await ask(sent)
            for other in under_way:
                if other is not asyncio.current_task():
                    # before the slot of this one is free, for the other one may be next in line
                    other.cancel()
            return reply

        try:
            start_timer = partial(loop.call_later, self._after, is_old.set_result, None)
            entry = asyncio.create_task(once(partial(win, lambda: timers.append(start_timer()))))
            under_way.append(entry)
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
    """Return the answer among the results. Raise a bug if there is one, so it is not hidden."""
    errors = [one for one in ended if isinstance(one, BaseException)]
    strange = (one for one in errors if not isinstance(one, CallwrightError))
    bugs = [one for one in strange if isinstance(one, Exception)]
    for outcome in ended:
        if isinstance(outcome, RawReply) and not bugs:
            return outcome
    raise (bugs or errors)[0]


class Budget:
    """US dollars that a build may spend; None means no limit. For one event loop."""

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        """Start with what the same build has already `spent`."""
        self.limit = limit
        self.spent = spent
        self._reserved = 0.0
        self._under_way = 0
        self._settled = asyncio.Event()  # the next time; then there is another one

    async def reserve(self, estimate: float) -> None:
        """Reserve `estimate`; wait while only reservations of requests in progress prevent it.

        Raises BudgetError.
        """
        limit = self.limit
        if limit is None:
            return
        while self.spent + self._reserved + estimate > limit and not self._is_over(estimate, limit):
            await self._settled.wait()
        if self._is_over(estimate, limit):
            raise BudgetError(
                f"The budget of ${limit:.4f} does not allow another request. ${self.spent:.4f} is"
                f" spent, and the next request may cost ${estimate:.4f} (its prompt and the longest"
                " reply that max_tokens or the model allows). Raise the budget and run the same"
                " command again. Answered requests are not sent again."
            )
        self._reserved += estimate
        self._under_way += 1

    def settle(self, estimate: float, cost: float) -> None:
        """Replace a reserved `estimate` by the true `cost` (0 if not charged), without waiting.

        So the money comes back whatever happens to the callers.
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
