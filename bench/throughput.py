"""Items per second through ledger, limits and one transport, compared with the bare client.

Usage: `python -m bench.throughput [--base-url URL] [-n 5000] [--steps 1] [-c 64] [--transport
lean|litellm] [--runs 5] [--json]`. Without a URL our own server answers, after 50 ms each time.
Each run is a process of its own, clients take turns, and the figures are medians. With `--real`
the items are samples: three real stages of a build with ledger and landing, and the bare client
sends the same requests that they sent.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bench.processes import cores

FIGURES = ("items_per_second", "seconds", "cpu_ms_per_call", "peak_rss_mb")
_DIGITS = 3


def main() -> None:
    """Measure and print."""
    chosen = _arguments()
    server = "bench.template_server" if chosen.real else "bench.chat_server"
    with address(chosen.base_url, server) as url:
        result = compare(url, chosen)
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    bare = [name for name in result if name.startswith("bare_")]
    print(f"{'':>18}  {'callwright':>12}" + "".join(f"  {name:>12}" for name in bare))
    for figure in (*FIGURES, "accepted", "failed"):
        values = (result[figure], *(result[name][figure] for name in bare))
        print(f"{figure:>18}" + "".join(f"  {value:>12}" for value in values))
    for name in bare:
        print(f"{result[f'share_of_{name}']:.0%} of {name}")


def compare(url: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the medians of callwright's runs and of the bare clients'."""
    ours = "callwright-real" if chosen.real else f"callwright-{chosen.transport}"
    clients = [ours, "bare_aiohttp", *(["bare_litellm"] if chosen.transport == "litellm" else [])]
    runs: dict[str, list[dict[str, float]]] = {client: [] for client in clients}
    module = "bench.throughput_real" if chosen.real else "bench.throughput_run"
    counts = chosen.items, chosen.steps, chosen.concurrency
    if chosen.real:
        _run(module, ours, url, *counts)  # so that the server has worded all answers
    for _ in range(chosen.runs):
        for client in clients:
            runs[client].append(_run(module, client, url, *counts))
    medians = {client: _median(measured) for client, measured in runs.items()}
    bare = {client: figures for client, figures in medians.items() if client != ours}
    return {
        "items": chosen.items,
        "steps": chosen.steps,
        "concurrency": chosen.concurrency,
        "transport": chosen.transport,
        "runs": chosen.runs,
        "cores": cores(),
        **medians[ours],
        **bare,
        **{
            f"share_of_{client}": round(
                medians[ours]["items_per_second"] / figures["items_per_second"], _DIGITS
            )
            for client, figures in bare.items()
        },
    }


def _run(module: str, client: str, url: str, *counts: int) -> dict[str, float]:
    command = [sys.executable, "-m", module, client, url, *map(str, counts)]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode:
        sys.exit(f"{client} ended with {child.returncode}:\n{child.stderr[-2000:]}")
    measured: dict[str, float] = json.loads(child.stdout.splitlines()[-1])
    return measured


def _median(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    figures = (*FIGURES, "accepted", "failed")
    return {
        name: round(statistics.median(run.get(name, 0) for run in runs), _DIGITS)
        for name in figures
    }


@contextmanager
def address(given: str | None, server: str = "bench.chat_server") -> Iterator[str]:
    """Yield the given address, or that of our own server while it is needed."""
    if given:
        yield given.rstrip("/")
        return
    command = [sys.executable, "-m", server]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--base-url",
        help="of a server that speaks OpenAI's protocol, such as http://127.0.0.1:8399/v1",
    )
    parser.add_argument("-n", "--items", type=int, default=5000)
    parser.add_argument(
        "--steps", type=int, default=1, help="requests for each item, each made of the last answer"
    )
    parser.add_argument("-c", "--concurrency", type=int, default=64)
    parser.add_argument("--transport", choices=("lean", "litellm"), default="lean")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--real", action="store_true", help="three stages of a build, with planning and landing"
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
