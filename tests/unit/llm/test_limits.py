"""Limits that hold, without any real waiting."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.chat import RawReply
from callwright.llm.limits import Clock, Gate, Limits, Window
from callwright.warehouse.errors import ConfigurationError, TransientError

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


@given(st.integers(1, 100), st.lists(st.tuples(st.integers(0, 150), st.floats(0, 40)), max_size=60))
def test_a_window_never_lets_more_than_its_limit_through(limit, wishes):
    window, now, sent = Window(limit), 0.0, []
    for amount, pause in wishes:
        now += pause
        wait = window.wait(amount, now)
        assert 0 <= wait <= 61 + 1e-6
        now += wait
        assert window.wait(amount, now) <= 1e-6
        window.count(amount, now)
        sent.append((now, amount))
    for moment, _ in sent:
        inside = [amount for other, amount in sent if moment <= other < moment + 60.5]
        assert sum(inside) <= limit or len([amount for amount in inside if amount]) == 1


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


async def test_tries_are_bounded(fake_time, scripted):
    adapter = scripted(*[TransientError("Busy.") for _ in range(9)])

    with pytest.raises(TransientError, match=r"Busy\. It was asked 3 times\."):
        await Gate(Limits(attempts=3), clock=fake_time.clock).run(lambda: adapter.send(None), 10)
    assert len(adapter.requests) == 3


async def test_patience_is_bounded(fake_time, scripted):
    adapter = scripted(TransientError("Busy.", retry_after=40.0), TransientError("Busy.", retry_after=40.0), ANSWER)

    with pytest.raises(TransientError, match="asked 2 times") as caught:
        await Gate(Limits(patience=60), clock=fake_time.clock).run(lambda: adapter.send(None), 10)
    assert caught.value.retry_after == 40.0
    assert sum(fake_time.slept) < 60


async def test_other_errors_are_not_tried_again(fake_time, scripted):
    adapter = scripted(ConfigurationError("Wrong key."), ANSWER)

    with pytest.raises(ConfigurationError):
        await Gate(Limits(), clock=fake_time.clock).run(lambda: adapter.send(None), 10)
    assert len(adapter.requests) == 1


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


async def test_a_wish_beyond_all_patience_holds_nobody_else_up(fake_time, scripted):
    adapter = scripted(TransientError("Tomorrow.", retry_after=86400.0), ANSWER)
    gate = Gate(Limits(), clock=fake_time.clock)

    with pytest.raises(TransientError, match="asked once"):
        await gate.run(lambda: adapter.send(None), 10)
    assert await gate.run(lambda: adapter.send(None), 10) == ANSWER
    assert fake_time.slept == []
