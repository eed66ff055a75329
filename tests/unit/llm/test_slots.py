"""Slots: never more than allowed, fewer where the model refuses, and soon all again."""

import asyncio

from callwright.llm.limits import Slots


def in_rounds(slots, rounds, refused_share):
    """Let each slot be answered once a round, every so many of them with a refusal; the sizes
    after each round.
    """
    sizes, number = [], 0
    for _ in range(rounds):
        for _ in range(slots.size):
            number += 1
            if refused_share and number % round(1 / refused_share) == 0:
                slots.shrink()
            else:
                slots.grow()
        sizes.append(slots.size)
    return sizes


def test_where_all_is_refused_one_slot_stays():
    slots = Slots(64)
    for _ in range(1000):
        slots.shrink()
    assert slots.size == 1


def test_ten_rounds_of_good_answers_bring_back_all():
    slots = Slots(64)
    for _ in range(1000):
        slots.shrink()
    sizes = in_rounds(slots, 12, 0)
    assert sizes[0] >= 8
    assert sizes[-1] == 64


async def test_those_who_wait_come_in_their_order():
    slots, order = Slots(1), []

    async def work(number):
        await slots.take()
        order.append(number)
        await asyncio.sleep(0)
        slots.free()

    await asyncio.gather(*(work(number) for number in range(10)))

    assert order == list(range(10))


async def test_fewer_slots_let_fewer_in():
    slots = Slots(4)
    for _ in range(4):
        await slots.take()
    for _ in range(4):
        slots.shrink()
    waiting = [asyncio.create_task(slots.take()) for _ in range(3)]
    await asyncio.sleep(0)
    for _ in range(3):
        slots.free()
    await asyncio.sleep(0)

    assert (slots.size, sum(task.done() for task in waiting)) == (2, 1)
    for task in waiting:
        task.cancel()


async def test_who_leaves_the_queue_takes_no_slot_along():
    slots = Slots(1)
    await slots.take()
    waiting = [asyncio.create_task(slots.take()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    slots.free()  # given to the second one, who leaves in the same moment
    waiting[1].cancel()

    await asyncio.wait_for(waiting[2], 1)
    slots.free()
    await asyncio.wait_for(slots.take(), 1)
    assert [task.cancelled() for task in waiting] == [True, True, False]
