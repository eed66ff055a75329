"""A build whose models answer in batches, stopped and taken up again."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from bench.slot_answers import slot_answer
from callwright.flows.progress import SilentProgress
from callwright.flows.run.plan import build_dataset
from callwright.flows.run.work import distinct_models
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.prices import find_price
from callwright.llm.template.model import TemplateModel
from tests.support.flows.model_server import OPINIONS, PRICED
from tests.support.flows.small_builds import (
    build,
    one,
    settings_of,
    unmeasured_recipe,
    warehouse_of,
)
from tests.support.llm.batch_server import BatchServer
from tests.support.llm.fixtures import completion


def answered(body: dict, times: int) -> str:
    """What template/v1 says to a request; it has nothing to wait for."""
    schema = body["response_format"]["json_schema"]["schema"]
    messages = tuple(ChatMessage(**message) for message in body["messages"])
    if schema and schema["title"] in OPINIONS:
        return OPINIONS[schema["title"]]
    if schema and (worded := slot_answer(schema["title"], messages)) is not None:
        return orjson.dumps(worded).decode()
    sending = TemplateModel().send(ChatRequest(PRICED, messages, schema, (), (), times))
    try:
        sending.send(None)
    except StopIteration as done:
        return done.value.text
    raise AssertionError("template/v1 waits for nothing")


@pytest.fixture
def provider() -> Iterator[BatchServer]:
    """A provider of batches in a thread of its own."""
    server = BatchServer(completion)
    server.behaviour = lambda body, times: server.well(answered(body, times))
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(server.application(), shutdown_timeout=0.1)

    async def start() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    yield server
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def test_a_build_in_batches_is_stopped_goes_on_and_pays_for_nothing_twice(
    provider: BatchServer, tmp_path: Path
) -> None:
    model = {"name": PRICED, "api_base": provider.url, "structured": "schema", "batch": True}
    model |= {"batch_gather": 0.3, "batch_poll": 0.1}
    recipe = unmeasured_recipe(
        models=dict.fromkeys(("generator", "checker", "judge"), model),
        samples={"perfect": 12},
        shard_size=100,
    )
    assert len(distinct_models(recipe)) == 1
    settings = settings_of(tmp_path / "home")

    async def stopped() -> None:
        building = asyncio.create_task(build_dataset(recipe, settings, SilentProgress()))
        while provider.calls["create"] < 3 and not building.done():  # noqa: ASYNC110 - a counter tells nobody that it moved
            await asyncio.sleep(0.02)
        provider.looks = 10**6
        await asyncio.sleep(0.5)
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building

    asyncio.run(stopped())
    provider.looks = 1
    report = build(recipe, settings)

    assert report.planned == one(settings, "select count(*) from samples")
    assert set(provider.paid.values()) == {1}
    [row] = warehouse_of(settings).rows(
        "select count(*) as n, sum(cost) as cost from llm_calls where not cached"
    )
    assert row["n"] == len(provider.paid)
    [whole] = warehouse_of(settings).rows("select sum(cost) as cost from costs")
    assert whole["cost"] == pytest.approx(
        len(provider.paid) * find_price(PRICED, in_batches=True).of(100, 20)
    )
    assert provider.calls["create"] < len(provider.paid) / 3
