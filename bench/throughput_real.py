"""A measured run of real stages; prints JSON.

Usage: `python -m bench.throughput_real CLIENT URL ITEMS _ CONCURRENCY`. `callwright-real` plans
imperfect requests, carries each through the three stages of single turns (almost all ask a model
in each) and lands them in DuckDB; `bare_aiohttp` sends the same requests, which the server
remembers. A first run of `callwright-real` fills the server's memory and is not a measurement.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from callwright.flows.planning.planner import Planner
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe
from callwright.flows.run.carry import open_local_carrier, run_group
from callwright.flows.run.plan import open_build
from callwright.flows.run.work import record_line
from callwright.flows.settings import Settings, read_settings
from callwright.flows.stages import stages_of
from callwright.warehouse.rows import body_of

MODEL = "openai/bench"
_GROUP = "single_turn"
_KIND = "imperfect"
_KILO = 1024


def _recipe(url: str, items: int, concurrency: int) -> dict[str, Any]:
    model = {"name": MODEL, "api_base": url, "structured": "schema", "concurrency": concurrency}
    return {
        "name": "bench",
        "seed": 7,
        "tools": [{"seed": "all"}],
        "languages": ["en", "zh"],
        "samples": {_KIND: items},
        "models": dict.fromkeys(("generator", "checker", "judge"), model),
    }


def _settings(home: Path) -> Settings:
    """Return a user's default settings, with two workers."""
    return read_settings({"CALLWRIGHT_WORKERS": "2"}, home=home)


async def callwright(url: str, items: int, concurrency: int) -> dict[str, float]:
    """Run planning, stages, ledger and landing of one group, in its own work folder."""
    import aiohttp  # noqa: F401 - imports are not what is measured

    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        settings = _settings(Path(folder))
        run = open_build(
            parse_recipe(_recipe(url, items, concurrency), Path(), "bench"),
            settings,
            SilentProgress(),
        )
        with open_local_carrier(run.recipe, settings) as carrier:
            cpu, began = time.process_time(), time.perf_counter()
            drafts = await Planner(run, [_KIND]).drafts(_GROUP, stages_of(_GROUP)[0])
            lines = (record_line(type(draft).__name__, body_of(draft)) for draft in drafts)
            await run_group(run, _GROUP, lines, carrier)
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        counted = run.warehouse.rows(
            "select (select count(*) from llm_calls) as calls, (select count(*) from samples) as"
            " accepted, (select count(*) from failures) as failed"
        )[0]
    return _figures(seconds, cpu, items, counted["calls"]) | {
        "accepted": counted["accepted"],
        "failed": counted["failed"],
    }


async def bare_aiohttp(url: str, items: int, concurrency: int) -> dict[str, float]:
    """Send the same requests with aiohttp and orjson, at the same concurrency."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    headers = {"Content-Type": "application/json"}
    ended: Counter[str] = Counter()
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        async with session.get(f"{url}/asked") as response:
            bodies = (await response.read()).splitlines()

        async def work(left: Iterator[bytes]) -> None:
            for body in left:
                asked = orjson.dumps(orjson.loads(body))
                async with session.post(f"{url}/chat/completions", data=asked) as response:
                    document = orjson.loads(await response.read())
                orjson.loads(document["choices"][0]["message"]["content"])
                ended["calls"] += 1

        await work(iter(bodies[:1]))
        left, ended = iter(bodies), Counter()
        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.gather(*(work(left) for _ in range(concurrency)))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return _figures(seconds, cpu, items, ended["calls"]) | {"accepted": items, "failed": 0}


def _figures(seconds: float, cpu: float, items: int, calls: int) -> dict[str, float]:
    return {
        "seconds": seconds,
        "items_per_second": items / seconds,
        "calls": calls,
        "cpu_ms_per_call": cpu * 1000 / max(1, calls),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILO,
    }


CLIENTS = {"callwright-real": callwright, "bare_aiohttp": bare_aiohttp}


def main() -> None:
    """Run the client named on the command line, and print the results."""
    client, url, *counts = sys.argv[1:]
    items, _, concurrency = map(int, islice(counts, 3))
    print(json.dumps(asyncio.run(CLIENTS[client](url, items, concurrency))))


if __name__ == "__main__":
    main()
