"""Read a million spans of 2 kB as a build reads a source.

Usage: `python -m bench.spans [--count N] [--take N] [--personal-data on] [--json]`. The spans
are generated in a temporary folder: four per trace, scattered over the file, one line in ten
thousand broken. Prints the seconds of each part, the records, and the process's peak memory.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe
from callwright.flows.settings import read_settings
from callwright.flows.sources import read_sources, taken_records, taken_sources

_SPANS, _SPAN_BYTES, _BROKEN = 4, 2_000, 10_000
_APART = 5_000  # traces that are under way together
_TOOLS = json.dumps(
    [
        {
            "type": "function",
            "name": f"tool_{number}",
            "description": "Look something up in one of the places.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        }
        for number in range(3)
    ]
)


def _lines(count: int) -> Iterator[str]:
    """Yield the lines of a file: spans of interleaved traces, in random order."""
    rng, made = Random(1), 0
    while made < count:
        block = [line for number in range(_APART) for line in _trace(made // _SPANS + number, rng)]
        rng.shuffle(block)
        for line in block[: count - made]:
            made += 1
            yield "{broken" if made % _BROKEN == 0 else line


def _trace(number: int, rng: Random) -> Iterator[str]:
    user = {
        "role": "user",
        "parts": [
            {
                "type": "text",
                "content": f"Please look up entry {rng.randrange(10**6)} of {number % 997}.",
            }
        ],
    }
    before, call = [user], f"c{number}"
    query = str(rng.randrange(10**6))
    made = {
        "type": "tool_call",
        "id": call,
        "name": f"tool_{number % 3}",
        "arguments": {"query": query},
    }
    steps = [
        {"role": "assistant", "parts": [made]},
        {"role": "assistant", "parts": [{"type": "text", "content": f"It is {number}."}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Gladly."}]},
    ]
    result = {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": call, "response": {"entry": number}}],
    }
    thanks = {"role": "user", "parts": [{"type": "text", "content": "Thank you."}]}
    yield _span(number, 0, {"gen_ai.operation.name": "invoke_agent"})
    for at, (step, after) in enumerate(zip(steps, (result, thanks, None), strict=True), 1):
        told = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(before),
            "gen_ai.output.messages": json.dumps([step]),
            "gen_ai.tool.definitions": _TOOLS,
        }
        yield _span(number, at, told)
        before = [*before, step, *([after] if after else [])]


def _span(trace: int, at: int, told: dict[str, str]) -> str:
    began = f"2026-01-01T00:{at:02}:00Z"
    span = {
        "name": "chat",
        "context": {"trace_id": f"{trace:032x}", "span_id": f"{at:016x}"},
        "start_time": began,
        "attributes": told,
    }
    text = json.dumps(span)
    told["server.address"] = "x" * max(0, _SPAN_BYTES - len(text) - 24)
    return json.dumps(span)


def main() -> int:
    """Write the spans, read them, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--take", type=int, default=100)
    parser.add_argument("--personal-data", choices=["off", "on", "report"], default="off")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spans.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _lines(chosen.count))
        source = {"from": str(path), "format": "otel", "take": chosen.take}
        stated = {"name": "bench", "samples": [source], "personal_data": chosen.personal_data}
        recipe = parse_recipe(stated, Path(folder), "bench")
        settings = read_settings(home=Path(folder) / "work")
        began = time.perf_counter()
        read_sources(recipe, settings, SilentProgress())
        seconds = time.perf_counter() - began
        [read] = taken_sources(recipe, settings)
        figures = {
            "spans": chosen.count,
            "megabytes": round(path.stat().st_size / 2**20),
            "seconds": round(seconds, 1),
            "spans_per_second": round(chosen.count / seconds),
            "records": read.records,
            "unreadable": read.unreadable,
            "taken": sum(one.sample is not None for one in taken_records(recipe, settings, ())),
            "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }
    print(
        json.dumps(figures)
        if chosen.json
        else "\n".join(f"{name}: {value}" for name, value in figures.items())
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
