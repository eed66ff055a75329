"""Limits that hold, without any real waiting."""

import asyncio
from itertools import pairwise
from random import Random

import pytest

from callwright.llm.chat import RawReply
from callwright.llm.limits import LONGEST_LOOK, Clock, Gate, Limits
from callwright.warehouse.errors import TransientError, UnavailableError

ANSWER = RawReply("Lyon", None, 10, 5)


async def test_no_more_than_the_concurrency_is_under_way(fake_time):
    gate = Gate(Limits(concurrency=3), clock=fake_time.clock)
    under_way, most = 0, 0

    async def ask():
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return ANSWER

    await asyncio.gather(*(gate.run(ask, 10) for _ in range(20)))

    assert most == 3


async def test_requests_a_minute_hold_in_any_minute(fake_time):
    gate = Gate(Limits(concurrency=50, requests_per_minute=7), clock=fake_time.clock)
    sent = []

    async def ask():
        sent.append(fake_time.moment)
        return ANSWER

    await asyncio.gather(*(gate.run(ask, 10) for _ in range(30)))

    assert len(sent) == 30
    assert all(sum(moment <= other < moment + 60 for other in sent) <= 7 for moment in sent)
    assert sent[-1] - sent[0] <= 61 * 4 + 1, "the limit is used up, too"


async def test_tokens_a_minute_hold_and_true_numbers_take_the_place_of_expected_ones(fake_time):
    gate = Gate(Limits(tokens_per_minute=1000), clock=fake_time.clock)
    sent = []

    async def ask():
        sent.append(fake_time.moment)
        return RawReply("Lyon", None, 80, 20)

    for _ in range(10):
        await gate.run(ask, 500)  # expected 500, used 100: the tenth would wait if 500 stayed
    assert fake_time.slept == [61.0]
    assert sent.count(1000.0) == 6  # five at 100 and one at 500 fit


async def test_a_transient_error_is_tried_again_with_growing_pauses(fake_time, scripted):
    adapter = scripted(*[TransientError("Busy.") for _ in range(4)], ANSWER)
    gate = Gate(Limits(), clock=fake_time.clock, rng=Random(1))

    assert await gate.run(lambda: adapter.send(None), 10) == ANSWER
    assert len(fake_time.slept) == 4
    for number, pause in enumerate(fake_time.slept):
        assert 0.05 * 2**number <= pause <= 0.1 * 2**number


async def test_the_servers_wish_is_honoured(fake_time, scripted):
    adapter = scripted(TransientError("Busy.", retry_after=7.0), ANSWER)

    await Gate(Limits(), clock=fake_time.clock).run(lambda: adapter.send(None), 10)

    assert 7.0 <= fake_time.slept[0] <= 7.05


async def test_patience_is_bounded(fake_time, scripted):
    adapter = scripted(
        TransientError("Busy.", retry_after=40.0), TransientError("Busy.", retry_after=40.0), ANSWER
    )

    with pytest.raises(UnavailableError, match="asked 2 times in 40 s"):
        await Gate(Limits(patience=60), clock=fake_time.clock).run(lambda: adapter.send(None), 10)
    assert sum(fake_time.slept) < 60


async def test_the_slot_is_free_while_one_waits_to_try_again():
    order = []
    resting = asyncio.Event()

    async def sleep(_seconds):
        resting.set()
        await asyncio.sleep(0.01)

    gate = Gate(Limits(concurrency=1), clock=Clock(sleep=sleep))

    async def fail_once():
        order.append("first")
        if len(order) == 1:
            raise TransientError("Busy.")
        return ANSWER

    async def succeed():
        order.append("second")
        return ANSWER

    first = asyncio.create_task(gate.run(fail_once, 10))
    await resting.wait()
    await gate.run(succeed, 10)
    await first

    assert order == ["first", "second", "first"]


async def test_the_servers_wish_holds_for_all_who_ask(fake_time):
    gate = Gate(Limits(concurrency=5), clock=fake_time.clock)
    sent = []

    async def ask():
        sent.append(fake_time.moment)
        if len(sent) == 1:
            raise TransientError("Busy.", retry_after=20.0)
        return ANSWER

    assert await gate.run(ask, 10) == ANSWER
    await asyncio.gather(*(gate.run(ask, 10) for _ in range(10)))

    assert sent[0] == 1000.0
    assert all(moment >= 1020.0 for moment in sent[1:])


async def test_a_wish_beyond_all_patience_ends_all_who_ask_at_once(fake_time, scripted):
    adapter = scripted(TransientError("Tomorrow.", retry_after=86400.0), ANSWER)
    gate = Gate(Limits(), clock=fake_time.clock)

    for _ in range(2):
        with pytest.raises(
            UnavailableError, match=r"Tomorrow\. It was asked once in 0 s\. .* patience \(300 s\)"
        ):
            await gate.run(lambda: adapter.send(None), 10)
    assert fake_time.slept == []
    assert len(adapter.requests) == 1


class AwayServer:
    """A model that is away for so many seconds of a clock from its first request on."""

    def __init__(self, time, seconds):
        self.time, self.end = time, time.moment + seconds
        self.looks, self.answered = [], 0

    async def ask(self):
        self.looks.append(self.time.moment)
        await asyncio.sleep(0)
        if self.time.moment < self.end:
            raise UnavailableError("Loading model.")
        self.answered += 1
        return ANSWER


async def test_a_model_that_is_away_is_looked_at_one_request_at_a_time_and_spends_no_tries(
    fake_time,
):
    server = AwayServer(fake_time, 120)
    gate = Gate(Limits(attempts=2), clock=fake_time.clock, rng=Random(1))

    await asyncio.gather(*(gate.run(server.ask, 10) for _ in range(40)))

    assert server.answered == 40
    looks = [moment for moment in server.looks if 1000 < moment < server.end]
    assert len(set(looks)) == len(looks) < 30
    waits = [later - before for before, later in pairwise(looks)]
    assert waits[0] < 1
    assert max(waits) <= LONGEST_LOOK


async def test_after_the_patience_all_who_wait_end_and_nobody_asks_any_more(fake_time):
    server = AwayServer(fake_time, 10_000)
    gate = Gate(Limits(patience=60), clock=fake_time.clock, rng=Random(1))

    ended = await asyncio.gather(
        *(gate.run(server.ask, 10) for _ in range(20)), return_exceptions=True
    )
    asked = len(server.looks)
    with pytest.raises(UnavailableError, match=r"in 60 s"):
        await gate.run(server.ask, 10)

    assert all(isinstance(one, UnavailableError) for one in ended)
    assert len(server.looks) == asked
    assert server.looks[-1] == pytest.approx(1060.0), "the last look is at the end of the patience"


async def test_who_alone_is_refused_while_others_are_answered_ends_after_its_patience(fake_time):
    gate = Gate(Limits(concurrency=2, patience=30), clock=fake_time.clock, rng=Random(1))

    async def refuse():
        raise UnavailableError("This request is too large for a minute's tokens.")

    async def serve():
        return ANSWER

    refused = asyncio.create_task(gate.run(refuse, 10))
    while not refused.done():
        assert await gate.run(serve, 10) == ANSWER
        fake_time.moment += 1
        await asyncio.sleep(0)
    with pytest.raises(TransientError, match=r"too large.* It was asked \d+ times") as raised:
        await refused
    assert not isinstance(raised.value, UnavailableError), "the model is there for others"
    assert await gate.run(serve, 10) == ANSWER


async def test_who_looks_and_is_cancelled_leaves_the_look_to_the_next(fake_time):
    server = AwayServer(fake_time, 5)
    resting, go = asyncio.Event(), asyncio.Event()

    async def sleep(seconds):
        resting.set()
        await go.wait()
        await fake_time.sleep(seconds)

    gate = Gate(Limits(), clock=Clock(fake_time.now, sleep), rng=Random(1))
    first, second = (asyncio.create_task(gate.run(server.ask, 10)) for _ in range(2))
    await resting.wait()
    first.cancel()
    go.set()

    assert await second == ANSWER
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_an_absence_is_told_when_it_begins_and_when_it_ends(fake_time):
    told = []
    gate = Gate(Limits(), clock=fake_time.clock, tell=told.append)

    assert await gate.run(AwayServer(fake_time, 3).ask, 10) == ANSWER
    assert [one and one.reason for one in told] == ["Loading model.", None]
    assert told[0].until - told[0].since == pytest.approx(300, abs=1)
