"""Batches over real HTTP: gathered, handed in, waited for, and never paid for twice."""

import asyncio
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import BaseModel

from callwright.llm.asking import LedgeredChat
from callwright.llm.chat import ChatMessage, Prompt
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget
from callwright.llm.models import BATCH_SLOTS, open_chat, read_model
from callwright.llm.prices import read_price
from callwright.warehouse.errors import ConfigurationError, ReplyError
from tests.support.llm.batch_server import BatchServer
from tests.support.llm.fixtures import completion
from tests.support.llm.names import OTHER, PLAIN
from tests.support.sampling import slow

ROOT = Path(__file__).parents[3]
HALF = read_price(PLAIN, in_batches=True).of(100, 20)  # what litellm's price map says of batches


class BatchedTrip(BaseModel):
    """What the tests ask for."""

    city: str
    days: int


LYON = BatchedTrip(city="Lyon", days=2)


def question(number: int = 0) -> Prompt:
    return Prompt(
        name="trip",
        version="1",
        messages=(ChatMessage(role="user", content=f"Which city, {number}?"),),
    )


@pytest.fixture
async def provider() -> AsyncIterator[BatchServer]:
    server = BatchServer(completion)
    runner = web.AppRunner(server.application(), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield server
    await runner.cleanup()


@pytest.fixture
def opened(provider: BatchServer, tmp_path: Path):
    """A chat in batches, as a process opens it; whatever it kept is in one file."""

    @asynccontextmanager
    async def open_one(**changes):
        told = {"batch": True, "api_base": provider.url, "batch_gather": 0.05, "batch_poll": 0.02}
        told |= {"api_key": "sk-secret"} | changes
        calls = []
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            settings = read_model(PLAIN, told)
            chat = open_chat(settings, ledger=ledger, budget=Budget(5.0), record=calls.append)
            chat.calls = calls
            try:
                yield chat
            finally:
                await chat.close()

    return open_one


async def ask_all(chat: LedgeredChat, count: int) -> list[BatchedTrip | BaseException]:
    return await asyncio.gather(
        *(chat.ask(question(at), BatchedTrip) for at in range(count)), return_exceptions=True
    )


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not is_so():  # noqa: ASYNC110 - a counter tells nobody that it moved
            await asyncio.sleep(0.01)


async def stopped_in_its_batch(opened, provider: BatchServer, count: int = 3) -> None:
    """A process that asks, and is ended while the provider is at work."""
    provider.looks = 10**6
    async with opened() as chat:
        asking = asyncio.create_task(ask_all(chat, count))
        await until(lambda: provider.calls["look"] > 1)
        asking.cancel()
    provider.looks = 0


async def test_requests_go_off_together_and_cost_what_batches_cost(opened, provider):
    async with opened() as chat:
        assert await ask_all(chat, 30) == [LYON] * 30
        assert await ask_all(chat, 30) == [LYON] * 30

    assert (provider.calls["upload"], provider.calls["create"], len(provider.paid)) == (1, 1, 30)
    paid = [call for call in chat.calls if not call.cached]
    assert [call.cost for call in paid] == [pytest.approx(HALF)] * 30
    assert read_price(PLAIN).prompt == 2 * read_price(PLAIN, in_batches=True).prompt
    [written] = [line for line in provider.files["file-0"].splitlines() if b", 7?" in line]
    assert b'"method":"POST","url":"/v1/chat/completions"' in written
    assert b'"response_format":{"type":"json_schema"' in written


async def test_a_stopped_process_leaves_a_batch_that_the_next_one_waits_for(opened, provider):
    await stopped_in_its_batch(opened, provider)

    async with opened() as chat:
        assert await ask_all(chat, 5) == [LYON] * 5

    assert provider.calls["create"] == 2, "the two new requests alone make another batch"
    assert set(provider.paid.values()) == {1}
    assert sum(call.cost for call in chat.calls) == pytest.approx(5 * HALF), (
        "the money is noted where it is fetched"
    )


ASKING = """
import asyncio, sys
from pathlib import Path
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget
from callwright.llm.models import open_chat, read_model
from tests.integration.llm.test_batch_model import BatchedTrip, question

async def ask():
    told = {"batch": True, "api_base": sys.argv[1], "batch_gather": 0.05, "batch_poll": 0.02, "api_key": "sk-secret"}
    async with Ledger(Path(sys.argv[2])) as ledger:
        chat = open_chat(read_model(sys.argv[3], told), ledger=ledger, budget=Budget(5.0), record=print)
        await asyncio.gather(*(chat.ask(question(at), BatchedTrip) for at in range(3)))

asyncio.run(ask())
"""


@pytest.mark.parametrize("when", [slow("look"), "create"])
async def test_a_killed_process_pays_for_nothing_twice(opened, provider, tmp_path, when):
    """Killed while the provider works, or before it has said that it will."""
    provider.looks = 10**6
    provider.keep_back = {when} - {"look"}
    ledger = str(tmp_path / "ledger.sqlite")
    asking = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASKING, provider.url, ledger, PLAIN, cwd=ROOT
    )
    async with asyncio.timeout(120):
        while not provider.calls[when]:  # noqa: ASYNC110 - a counter tells nobody that it moved
            await asyncio.sleep(0.01)
    asking.kill()
    assert await asking.wait() == -signal.SIGKILL
    provider.looks, provider.keep_back = 0, set()

    async with opened() as chat:
        assert await ask_all(chat, 3) == [LYON] * 3

    assert (provider.calls["create"], set(provider.paid.values())) == (1, {1})
    assert sum(call.cost for call in chat.calls) == pytest.approx(3 * HALF)


@pytest.mark.parametrize("ended", ["expired", "cancelled"])
async def test_a_batch_that_was_ended_is_told_and_what_it_left_is_asked_again(
    opened, provider, caplog, ended
):
    def behaviour(body, _):
        if provider.status == ended and ", 1?" in body["messages"][0]["content"]:
            return provider.expired()
        return provider.well()

    provider.status, provider.behaviour = ended, behaviour
    async with opened() as chat:
        asking = asyncio.create_task(ask_all(chat, 3))
        await until(lambda: provider.paid.total() == 2)
        provider.status = "completed"
        assert await asking == [LYON] * 3
    assert f"the batch batch_0 is {ended}, and 1 of its 3 requests have no answer" in caplog.text
    assert (provider.calls["create"], set(provider.paid.values())) == (2, {1})


async def test_replies_that_nobody_waited_for_are_kept_with_their_price(opened, provider):
    await stopped_in_its_batch(opened, provider)
    async with opened() as chat:
        assert await chat.ask(question(0), BatchedTrip) == LYON

    async with opened() as chat:
        assert await ask_all(chat, 3) == [LYON] * 3

    assert (provider.calls["create"], set(provider.paid.values())) == (1, {1})
    assert [call.cached for call in chat.calls].count(True) == 1
    assert sum(call.cost for call in chat.calls) == pytest.approx(2 * HALF)


async def test_what_the_ledger_holds_is_not_kept_twice_for_long(opened, provider, tmp_path):
    async with opened() as chat:
        await ask_all(chat, 3)
    async with opened() as chat:
        await chat.ask(question(9), BatchedTrip)
    with sqlite3.connect(tmp_path / "ledger.sqlite") as file:
        assert file.execute("select count(*) from answers").fetchone() == (4,)
        assert file.execute("select count(*) from batch_lines").fetchone() == (1,)
        assert file.execute("select count(*) from batch_files").fetchone() == (0,)
    file.close()


async def test_a_batch_whose_beginning_nobody_heard_of_is_found_again(opened, provider):
    provider.lose = {"create"}
    async with opened() as chat:
        assert await ask_all(chat, 3) == [LYON] * 3
    assert (provider.calls["create"], provider.calls["list"], set(provider.paid.values())) == (
        1,
        1,
        {1},
    )


async def test_what_expires_is_asked_again_and_the_rest_is_not(opened, provider):
    late = iter([True, True])
    provider.behaviour = lambda body, _: (
        provider.expired()
        if ", 1?" in body["messages"][0]["content"] and next(late, False)
        else provider.well()
    )
    async with opened() as chat:
        assert await ask_all(chat, 3) == [LYON] * 3
    assert (provider.calls["create"], set(provider.paid.values())) == (3, {1})


async def test_a_refused_line_fails_alone_and_says_why(opened, provider):
    provider.behaviour = lambda body, _: (
        provider.refused(400, "Invalid prompt")
        if ", 1?" in body["messages"][0]["content"]
        else provider.well()
    )
    async with opened() as chat:
        first, second, third = await ask_all(chat, 3)
    assert (first, third) == (LYON, LYON)
    assert isinstance(second, ReplyError)
    assert "Invalid prompt" in str(second)


@pytest.mark.parametrize(
    ("endpoint", "status", "message", "error", "words"),
    [
        (
            "upload",
            401,
            "Incorrect API key provided: sk-secret",
            ConfigurationError,
            "refuses the key",
        ),
        ("upload", 404, "Not found", ConfigurationError, "does not support batches"),
        ("create", 400, "Too many files", ReplyError, "Too many files"),
        ("look", 401, "Incorrect API key provided", ConfigurationError, "refuses the key"),
    ],
)
async def test_a_refusal_reaches_all_who_wait_and_leaves_what_is_paid(
    opened, provider, endpoint, status, message, error, words
):
    provider.refuse = {endpoint: (status, {"error": {"message": message, "code": None}})}
    async with opened() as chat:
        for refused in await ask_all(chat, 2):
            assert isinstance(refused, error)
            assert words in str(refused)
            assert "sk-secret" not in str(refused)
    async with opened() as chat:
        assert await ask_all(chat, 2) == [LYON] * 2
    assert set(provider.paid.values()) == {1}


async def test_a_batch_that_fails_whole_says_why_and_is_forgotten(opened, provider):
    provider.status = "failed"
    async with opened() as chat:
        [refused] = await ask_all(chat, 1)
    assert isinstance(refused, ConfigurationError)
    assert "This line is not valid." in str(refused)
    provider.status = "completed"
    async with opened() as chat:
        assert await ask_all(chat, 1) == [LYON]


async def test_a_batch_that_the_provider_has_lost_is_handed_in_again(opened, provider):
    await stopped_in_its_batch(opened, provider, 1)
    provider.batches.clear()
    async with opened() as chat:
        assert await ask_all(chat, 1) == [LYON]


async def test_a_line_without_a_result_is_asked_again(opened, provider):
    lost = iter([b'{"custom_id":"zz"}\nhalf a li'])
    work = provider._work

    def lose_once(batch):
        work(batch)
        if (text := next(lost, None)) is not None:
            provider.files[batch["output_file_id"]] = text

    provider._work = lose_once
    async with opened() as chat:
        assert await ask_all(chat, 2) == [LYON] * 2
    assert provider.calls["create"] == 2


def test_a_model_in_batches_needs_a_server_that_has_them():
    assert read_model(PLAIN, {"batch": True}).concurrency == BATCH_SLOTS
    assert read_model(PLAIN, {"batch": True, "concurrency": 40}).concurrency == 40
    assert read_model(PLAIN, {"batch": True}).key_variable == "OPENAI_API_KEY"
    with pytest.raises(ConfigurationError, match="batch needs the api_base"):
        read_model(OTHER, {"batch": True})
