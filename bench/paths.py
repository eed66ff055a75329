"""Evaluate 50 multi-step samples with contexts of at least 100,000 tokens.

Usage: `python -m bench.paths [--count N] [--runs N] [--json]`. The candidate is a scripted model
over the network, so callwright is measured and not a model. It omits defaults, so the world is
asked what the calls return.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from bench.processes import ProcessRun, cores, watch
from callwright.flows.settings import environment
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.travel import open_travel
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Call,
    CallTurn,
    GoldCall,
    Outcome,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    Turn,
    UserTurn,
    content_key,
)
from callwright.warehouse.releases import freeze
from callwright.warehouse.store import Warehouse

TOKENS = 100_000
BYTES_PER_TOKEN = 4
CITIES = (
    "Rome",
    "Paris",
    "London",
    "Berlin",
    "Madrid",
    "Vienna",
    "Tokyo",
    "Lisbon",
    "Prague",
    "Amsterdam",
)
MONTHS = ("02", "04", "06", "08", "10")
TOOLS = [{"environment": "travel", "response_size": "long"}]


def main() -> None:
    """Measure and print the median of the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=len(CITIES) * len(MONTHS))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    world = open_travel(response_size="long")
    samples = asyncio.run(_make_samples(world, chosen.count))
    measured = [measure(world, samples) for _ in range(chosen.runs)]
    sizes = [_tokens(sample.turns) for sample in samples]
    result = {
        "samples": len(samples),
        "fewest_tokens": min(sizes),
        "most_tokens": max(sizes),
        "runs": chosen.runs,
        "cores": cores(),
        "seconds": round(statistics.median(run.seconds for run, _ in measured), 1),
        "peak_mb": round(max(run.peak_mb for run, _ in measured)),
        "success_rate": measured[-1][1]["success_rate"],
        "call_acc": measured[-1][1]["call_acc"],
    }
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:>14}  {value}")


def measure(world: Environment, samples: Sequence[Sample]) -> tuple[ProcessRun, dict[str, Any]]:
    """Run one evaluation in its own work folder, and return the leaderboard's row."""
    with (
        tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder,
        _serve_guide(samples) as address,
    ):
        home = Path(folder) / "home"
        _release(Warehouse(home / "warehouse.duckdb"), world.tools, samples)
        recipe = Path(folder) / "bench.json"
        model = {"name": "openai/guide", "api_base": address, "structured": "schema"}
        recipe.write_text(
            json.dumps(_recipe() | {"candidates": [{"label": "guide", "model": model}]})
        )
        run = watch(
            [
                sys.executable,
                "-m",
                "callwright",
                "evaluate",
                "bench",
                "--recipe",
                str(recipe),
                "--json",
            ],
            {**environment(), "CALLWRIGHT_HOME": str(home)},
        )
    if run.code:
        sys.exit(f"The evaluation ended with {run.code}:\n{run.output[-2000:]}")
    [row] = json.loads(run.output[run.output.index("\n[") :])  # behind the news
    return run, row


def _recipe() -> dict[str, Any]:
    return {"name": "bench", "tools": TOOLS, "samples": {"multi_step": 0}}


async def _make_samples(world: Environment, count: int) -> list[Sample]:
    places = ((city, f"2026-{month}-11", f"2026-{month}-14") for month in MONTHS for city in CITIES)
    return [await _make_sample(world, *place) for place in islice(places, count)]


async def _make_sample(world: Environment, city: str, arrival: str, departure: str) -> Sample:
    """Make a sample: find a hotel, then list hotels elsewhere until the context is long enough."""
    stay = {"arrival_date": arrival, "departure_date": departure, "adults": 1}
    request = (
        f"I stay in {city} from {arrival} to {departure}. What does the first hotel offer? Show me"
        " other places too."
    )
    turns: list[Turn] = [UserTurn(text=request)]

    async def step(tool: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - a response of any shape
        answer = await world.answer(Call(tool=tool, arguments=arguments))
        turns.extend(
            [
                CallTurn(calls=(GoldCall(tool=tool, arguments=arguments),), executed=True),
                ResultTurn(results=(answer.response,)),
            ]
        )
        return answer.response["data"] if isinstance(answer.response, dict) else None

    found = await step("Search_Hotel_Destination", {"query": city})
    for place in found:
        named = {"dest_id": place["dest_id"], "search_type": place["search_type"]}
        hotels = (await step("Search_Hotels", named | stay))["hotels"]
        if place is found[0]:
            await step("Get_Hotel_Details", {"hotel_id": hotels[0]["hotel_id"]} | stay)
        elif _tokens(turns) >= TOKENS:
            break
    turns.append(ReplyTurn(text="The first hotel has a roof."))
    tools = [tool.key for tool in world.tools if tool.category == "Hotels"]
    return Sample(
        kind="multi_step",
        language=DEFAULT_LANGUAGE,
        category="Hotels",
        candidates=tuple(tools),
        turns=tuple(turns),
        facts=SampleFacts(environment=world.name),
    )


def _tokens(turns: Sequence[Turn]) -> int:
    return len(orjson.dumps([turn.model_dump() for turn in turns])) // BYTES_PER_TOKEN


def _release(warehouse: Warehouse, tools: Sequence[Tool], samples: Sequence[Sample]) -> None:
    """Create a release of the samples as if a build had landed them."""
    warehouse.put([*tools, *samples])
    moment, build = "2026-01-01T00:00:00Z", content_key("bench")
    recipe = {
        "key": build,
        "recipe": "bench",
        "body": json.dumps(_recipe()),
        "started_at": moment,
        "finished_at": moment,
    }
    warehouse.put_rows(
        {
            "builds": [recipe],
            "outcomes": [
                outcome_row(
                    Outcome(build=build, stage="land", subject=sample.key, outcome="passed")
                )
                for sample in samples
            ],
        }
    )
    freeze(warehouse, "bench", sorted(sample.key for sample in samples))


@contextmanager
def _serve_guide(samples: Sequence[Sample]) -> Iterator[str]:
    """Serve a model on loopback that makes the gold calls without defaults; yield its address."""
    steps = {
        sample.request: [turn.calls for turn in sample.turns if turn.kind == "calls"]
        for sample in samples
    }

    async def answer(request: web.Request) -> web.Response:
        asked = orjson.loads(await request.read())["messages"][-1]["content"]
        told, history = (orjson.loads(_between(asked, tag)) for tag in ("request", "history"))
        left = steps[told][len(history) :]
        calls = (
            [{"name": call.tool, "arguments": _without_default(call)} for call in left[0]]
            if left
            else []
        )
        said = {"calls": calls, "answer": "" if calls else "The first hotel has a roof."}
        message = {"role": "assistant", "content": orjson.dumps(said).decode()}
        usage = {
            "prompt_tokens": len(asked) // BYTES_PER_TOKEN,
            "completion_tokens": 50,
            "total_tokens": 0,
        }
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return web.json_response(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "guide",
                "choices": [choice],
                "usage": usage,
            }
        )

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)


def _without_default(call: GoldCall) -> dict[str, Any]:
    return {name: value for name, value in call.arguments.items() if name != "adults"}


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].rpartition(f"</{tag}>")[0]


if __name__ == "__main__":
    main()
