"""One measured run in its own process; prints JSON.

Usage: `python -m bench.throughput_run CLIENT URL ITEMS STEPS CONCURRENCY`.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel

from callwright.llm.chat import ChatMessage, Prompt
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget
from callwright.llm.models import open_chat, read_model
from callwright.warehouse.errors import CallwrightError

MODEL = "openai/bench"
MODEL_ON_THE_WIRE = "bench"
AHEAD = 2  # items under way for each slot: while one waits for the disk, another one asks
_KILO = 1024
_SYSTEM = "You answer in JSON."


class ServedReply(BaseModel):
    """The server's answer."""

    answer: str = ""
    score: int = 0


Ask = Callable[[str], Awaitable[str]]  # a prompt's text, and what came of it


class ThroughputPlan(NamedTuple):
    """The settings of a run."""

    client: str
    url: str
    items: int
    steps: int
    concurrency: int


@asynccontextmanager
async def callwright(plan: ThroughputPlan) -> Any:  # noqa: ANN401 - an async generator of Ask
    """Yield our own chat with ledger, limits, budget and records.

    The transport is the second half of the client's name.
    """
    transport = plan.client.partition("-")[2]
    told = {
        "api_base": plan.url,
        "concurrency": plan.concurrency,
        "structured": "prompt",
        "transport": transport,
    }
    calls: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        async with Ledger(Path(folder) / "ledger.sqlite") as ledger:
            settings = read_model(MODEL, told)
            chat = open_chat(
                settings,
                ledger=ledger,
                budget=Budget(None),
                record=lambda call: calls.update([call.error]),
            )

            async def ask(text: str) -> str:
                said = (_message("system", _SYSTEM), _message("user", text))
                prompt = Prompt.model_construct(name="bench", version="1", messages=said)
                return (await chat.ask(prompt, ServedReply)).answer

            yield ask
            await chat.close()


@asynccontextmanager
async def bare_aiohttp(plan: ThroughputPlan) -> Any:  # noqa: ANN401 - an async generator of Ask
    """Ask with aiohttp and orjson alone: no ledger, no limits, no check of replies."""
    import aiohttp

    headers = {"Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=plan.concurrency)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def ask(text: str) -> str:
            body = orjson.dumps({"model": MODEL_ON_THE_WIRE, "messages": _wire(text)})
            async with session.post(f"{plan.url}/chat/completions", data=body) as response:
                document = orjson.loads(await response.read())
            return str(orjson.loads(document["choices"][0]["message"]["content"]).get("answer", ""))

        yield ask


@asynccontextmanager
async def bare_litellm(plan: ThroughputPlan) -> Any:  # noqa: ANN401 - an async generator of Ask
    """Ask with litellm's acompletion, as in its documentation."""
    import litellm

    litellm.suppress_debug_info = True

    async def ask(text: str) -> str:
        response = await litellm.acompletion(
            model=MODEL, api_base=plan.url, api_key="none", messages=_wire(text)
        )
        return str(orjson.loads(response.choices[0].message.content).get("answer", ""))

    yield ask
    await litellm.close_litellm_async_clients()


CLIENTS: dict[str, Callable[[ThroughputPlan], AbstractAsyncContextManager[Ask]]] = {
    "callwright-lean": callwright,
    "callwright-litellm": callwright,
    "bare_aiohttp": bare_aiohttp,
    "bare_litellm": bare_litellm,
}


async def run(plan: ThroughputPlan) -> dict[str, float]:
    """Run all items, each through its chain of steps."""
    ended: Counter[str] = Counter()
    async with CLIENTS[plan.client](plan) as ask:
        await ask("Is anybody there?")  # imports and the first connection are not what is measured
        numbers = iter(range(plan.items))
        workers = plan.concurrency * (AHEAD if plan.client.startswith("callwright") else 1)
        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.gather(*(_work(numbers, ask, plan.steps, ended) for _ in range(workers)))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "seconds": seconds,
        "items_per_second": plan.items / seconds,
        "cpu_ms_per_call": cpu * 1000 / (plan.items * plan.steps),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILO,
        **ended,
    }


async def _work(numbers: Iterator[int], ask: Ask, steps: int, ended: Counter[str]) -> None:
    for number in numbers:
        text = f"Item {number}: what is the answer, and how sure are you?"
        try:
            for step in range(steps):
                text = f"Item {number}, step {step + 1}, after {await ask(text)!r}: and now?"
        except CallwrightError:
            ended["failed"] += 1
        else:
            ended["accepted"] += 1


def _message(role: Any, text: str) -> ChatMessage:  # noqa: ANN401 - one of the three roles
    return ChatMessage.model_construct(role=role, content=text)


def _wire(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": text}]


def main() -> None:
    """Run the client named on the command line, and print the results."""
    client, url, *counts = sys.argv[1:]
    items, steps, concurrency = map(int, counts)
    print(json.dumps(asyncio.run(run(ThroughputPlan(client, url, items, steps, concurrency)))))


if __name__ == "__main__":
    main()
