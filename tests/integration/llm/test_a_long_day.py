"""Many items through all of it: chat, ledger, gate and the lean wire, against a server that
counts and misbehaves.
"""

import asyncio
import sys
from pathlib import Path

import aiohttp
import pytest
from pydantic import BaseModel

from callwright.llm.chat import ChatMessage, Prompt
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget
from callwright.llm.models import open_chat, read_model
from callwright.warehouse.errors import CallwrightError

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run

ROOT = Path(__file__).resolve().parents[3]


class ServerText(BaseModel):
    """What the server of bench/ says."""

    answer: str
    score: int


@pytest.fixture
async def open_server():
    """Start the server of bench/ with the faults given; its address."""
    children = []

    async def start(*faults):
        arguments = (sys.executable, "-m", "bench.chat_server", "--delay", "0.002", *faults)
        child = await asyncio.create_subprocess_exec(
            *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        children.append(child)
        return (await child.stdout.readline()).decode().strip()

    yield start
    for child in children:
        child.terminate()
        await child.wait()


async def ask_all(url, path, numbers, **told):
    """Ask for each number; the answers and errors, and the calls."""
    calls = []
    settings = read_model("openai/stub", {"api_base": url, "concurrency": 64} | told)
    async with Ledger(path) as ledger:
        chat = open_chat(settings, ledger=ledger, budget=Budget(None), record=calls.append)

        async def ask(number):
            said = (ChatMessage(role="user", content=f"Item {number}"),)
            return await chat.ask(Prompt(name="day", version="1", messages=said), ServerText)

        ended = await asyncio.gather(*(ask(number) for number in numbers), return_exceptions=True)
        await chat.close()
    return ended, calls


async def counts(url):
    """How often the server was asked, and what it did of it."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/stats") as response:
        return await response.json()


async def test_500_done_and_600_asked_is_exactly_100_calls(open_server, tmp_path):
    url = await open_server()
    await ask_all(url, tmp_path / "ledger", range(500))
    assert (await counts(url))["calls"] == 500

    ended, calls = await ask_all(url, tmp_path / "ledger", range(600))

    assert (await counts(url))["calls"] == 600
    assert ended == [ServerText(answer="ok", score=5)] * 600
    assert sum(not call.cached for call in calls) == 100


async def test_the_other_way_knows_what_this_way_was_answered(open_server, tmp_path):
    url = await open_server()
    await ask_all(url, tmp_path / "ledger", range(20), transport="lean")
    _, calls = await ask_all(url, tmp_path / "ledger", range(20), transport="litellm")

    assert (await counts(url))["calls"] == 20
    assert all(call.cached for call in calls)


async def test_every_tenth_refusal_loses_nothing(open_server, tmp_path):
    url = await open_server("--refuse", "10")

    ended, _ = await ask_all(url, tmp_path / "ledger", range(500))

    seen = await counts(url)
    assert ended == [ServerText(answer="ok", score=5)] * 500
    assert seen["calls"] - seen["refused"] == 500
    assert seen["refused"] >= 50


async def test_cut_connections_and_half_replies_end_in_answers_or_reasons(open_server, tmp_path):
    url = await open_server("--cut", "50", "--halve", "100")

    ended, calls = await ask_all(url, tmp_path / "ledger", range(500), attempts=2)

    seen = await counts(url)
    assert seen["cut"] >= 5
    assert seen["halved"] >= 5
    answered = [end for end in ended if isinstance(end, ServerText)]
    failed = [end for end in ended if isinstance(end, CallwrightError)]
    assert len(answered) + len(failed) == 500
    assert len(answered) >= 490
    assert sorted(call.error for call in calls if call.error) == sorted(
        str(error) for error in failed
    )
