"""A request without an answer is sent a second time, where the recipe says so and never else."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from callwright.llm.asking import LedgeredChat
from callwright.llm.chat import RawReply
from callwright.llm.limits import Budget, Hedging
from callwright.llm.models import open_chat, read_model
from callwright.llm.prices import count_tokens, find_price
from callwright.warehouse.errors import BudgetError, ConfigurationError
from tests.support.llm.fixtures import REFUSALS, completion
from tests.support.llm.names import IN, OUT, PLAIN

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run

MODEL = PLAIN
PRICE = find_price(MODEL).of(100, 20)  # of a reply of the server below
ESTIMATE = 5 * IN + 50 * OUT  # of the fixture's prompt, 20 bytes, and max_tokens 50
SOON = 0.05
LATER = 0.5  # where nothing else may take so long


def set_aside() -> float:
    """What a request counts as before its answer, where there is a budget; counting tokens
    imports a vendor.
    """
    return (count_tokens(MODEL, "Be brief.\nWhich city?") + 13) * IN + 50 * OUT


class Moody:
    """A server that meets its requests, in their order, after so many seconds with an answer or
    a refusal.
    """

    def __init__(self) -> None:
        self.url = ""
        self.moods: list[tuple[float, str]] = []
        self.bodies: list[bytes] = []
        self.came: asyncio.Queue[int] = asyncio.Queue()
        self.gone: asyncio.Queue[int] = asyncio.Queue()  # those whose client went away

    async def answer(self, request: web.Request) -> web.StreamResponse:
        number = len(self.bodies)
        self.bodies.append(await request.read())
        self.came.put_nowait(number)
        seconds, told = self.moods[number] if number < len(self.moods) else (0.0, "well")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.gone.put_nowait(number)
            raise
        if told in REFUSALS:
            status, message, headers, code = REFUSALS[told]
            return web.json_response(
                {"error": {"message": message, "code": code}}, status=status, headers=headers
            )
        return web.json_response(completion(f"answer {number}"))


@pytest.fixture
async def moody() -> AsyncIterator[Moody]:
    """A server that cancels what nobody waits for."""
    server = Moody()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield server
    await runner.cleanup()


@pytest.fixture
async def open_model(moody, ledger):
    """A model of that server, hedged unless told otherwise; its calls are in `chat.calls`, its
    money in `chat.budget`.
    """
    opened: list[LedgeredChat] = []

    def open_one(*, limit: float | None = None, **told) -> LedgeredChat:
        settings = {
            "api_base": moody.url,
            "max_tokens": 50,
            "attempts": 1,
            "hedge_after": SOON,
        } | told
        calls, budget = [], Budget(limit)
        chat = open_chat(
            read_model(MODEL, settings), ledger=ledger, budget=budget, record=calls.append
        )
        chat.calls, chat.budget = calls, budget
        opened.append(chat)
        return chat

    yield open_one
    for chat in opened:
        await chat.close()


def ended(chat: LedgeredChat) -> list[tuple[str, float]]:
    """How the calls of a chat ended, in one word, and what each cost."""
    return [
        (call.error.partition(":")[0] or "answered", pytest.approx(call.cost))
        for call in chat.calls
    ]


def tasks_of_requests() -> list[str]:
    """The tasks that are under way for requests."""
    told = [repr(task.get_coro()) for task in asyncio.all_tasks()]
    return [name for name in told if "Gate.once" in name or "first_good" in name]


@pytest.mark.parametrize("transport", ["lean", "litellm"])
async def test_the_second_answer_is_taken_where_the_first_is_slow(
    open_model, moody, prompt, transport
):
    chat = open_model(transport=transport, limit=1.0, hedge_after=LATER)
    moody.moods = [(30.0, "well"), (0.0, "well")]

    assert (await chat.complete(prompt)).text == "answer 1"

    assert tasks_of_requests() == []
    assert moody.bodies[0] == moody.bodies[1]
    assert ended(chat) == [("Called off", set_aside()), ("answered", PRICE)]
    assert transport == "litellm" or chat.calls[0].latency > LATER > chat.calls[1].latency
    assert chat.budget.spent == pytest.approx(set_aside() + PRICE), (
        "what was called off counts as it was set aside"
    )
    assert (await chat.complete(prompt)).text == "answer 1", (
        "the ledger keeps the one that was taken"
    )
    assert len(moody.bodies) == 2
    assert await asyncio.wait_for(moody.gone.get(), 10) == 0, (
        "nobody waits for the first one any more"
    )


async def test_a_first_answer_that_comes_after_all_is_taken(open_model, moody, prompt):
    chat = open_model()
    moody.moods = [(4 * SOON, "well"), (30.0, "well")]

    assert (await chat.complete(prompt)).text == "answer 0"

    assert ended(chat) == [("Called off", ESTIMATE), ("answered", PRICE)]


async def test_without_the_setting_nothing_is_sent_twice(open_model, moody, prompt):
    chat = open_model(hedge_after=None)
    moody.moods = [(0.3, "well")]

    assert (await chat.complete(prompt)).text == "answer 0"
    assert len(moody.bodies) == len(chat.calls) == 1


@pytest.mark.parametrize("bad", [0, 1])
async def test_one_that_fails_leaves_the_other_to_answer(open_model, moody, prompt, bad):
    chat = open_model()
    moody.moods = [(20 * SOON, "well"), (20 * SOON, "well")]
    moody.moods[bad] = (2 * SOON, "bad request")

    assert (await chat.complete(prompt)).text == f"answer {1 - bad}"
    assert ended(chat) == [("answered", PRICE)]


async def test_a_request_that_fails_at_once_is_not_sent_twice_but_tried_again(
    open_model, moody, prompt
):
    chat = open_model(attempts=2, hedge_after=10.0)
    moody.moods = [(0.0, "ill"), (0.0, "well")]

    assert (await chat.complete(prompt)).text == "answer 1"
    assert ended(chat) == [("answered", PRICE)]


async def test_both_hold_slots_and_give_them_back(open_model, moody, prompt):
    chat = open_model(concurrency=2)
    moody.moods = [(30.0, "well"), (4 * SOON, "well")]
    first = asyncio.create_task(chat.complete(prompt))
    await moody.came.get()
    await moody.came.get()

    others = [
        asyncio.create_task(chat.complete(prompt, sample_index=number)) for number in range(1, 6)
    ]
    await asyncio.sleep(SOON)
    assert len(moody.bodies) == 2, "no slot is left for others"
    answers = {(await first).text, *[(await other).text for other in others]}

    assert len(answers) == 6
    assert len(moody.bodies) == 7


async def test_the_second_request_counts_against_the_minute(open_model, moody, prompt):
    chat = open_model(requests_per_minute=2)
    moody.moods = [(30.0, "well"), (0.0, "well")]
    await chat.complete(prompt)

    third = asyncio.create_task(chat.complete(prompt, sample_index=1))
    await asyncio.sleep(4 * SOON)
    assert len(moody.bodies) == 2
    third.cancel()
    with pytest.raises(asyncio.CancelledError):
        await third


async def test_a_budget_too_small_for_two_waits_for_the_first(open_model, moody, prompt):
    chat = open_model(limit=set_aside() * 1.5)
    moody.moods = [(4 * SOON, "well")]

    assert (await chat.complete(prompt)).text == "answer 0"
    assert ended(chat) == [("answered", PRICE)]
    with pytest.raises(BudgetError):
        await chat.complete(prompt, sample_index=1)


async def test_who_is_cancelled_takes_both_requests_along(open_model, moody, prompt):
    chat = open_model(concurrency=2)
    moody.moods = [(30.0, "well"), (30.0, "well")]
    asking = asyncio.create_task(chat.complete(prompt))
    await moody.came.get()
    await moody.came.get()

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert tasks_of_requests() == []
    both = [chat.complete(prompt, sample_index=number) for number in (1, 2)]
    assert len(await asyncio.gather(*both)) == 2, "the slots are free again"


async def ungated(ask):
    """As a gate that keeps nobody waiting."""
    return await ask()


async def test_a_bug_is_not_hidden_by_another_answer():
    numbers = iter((0, 1))

    async def ask(sent):
        sent()
        if next(numbers):
            raise KeyError("a bug")
        await asyncio.sleep(0.1)
        return RawReply("well")

    with pytest.raises(KeyError):
        await Hedging(0.01).first_good(ungated, ask)


@pytest.mark.parametrize(
    ("name", "told", "words"),
    [
        (MODEL, {"hedge_after": 0.0}, "hedge_after"),
        (MODEL, {"hedge_after": -1.0}, "hedge_after"),
        (MODEL, {"hedge_after": 8.0, "batch": True}, "not for batches"),
        (MODEL, {"hedge_after": 8.0, "items_per_request": 4}, "items_per_request above 1"),
        ("template/v1", {"hedge_after": 8.0}, "hedge_after mean nothing to 'template/v1'"),
        ("local/x.gguf", {"hedge_after": 8.0}, "hedge_after mean nothing to"),
    ],
)
def test_what_cannot_be_hedged_says_so(name, told, words):
    with pytest.raises(ConfigurationError, match=words):
        read_model(name, told)
