"""Prints the table of bench/README.md: `python -m bench.throughput_table [--runs 5]`."""

import argparse
from typing import Any

from bench.throughput import FIGURES, address, compare

ROWS = (  # items, steps, at once, transport
    (5000, 1, 64, "lean"),
    (5000, 1, 256, "lean"),
    (1000, 3, 64, "lean"),
    (1000, 1, 64, "litellm"),
)
REAL = (1000, 3, 64, "lean")
HEAD = (
    "items x steps",
    "at once",
    "client",
    "items a second",
    "seconds",
    "CPU ms a call",
    "peak MB",
    "share of bare",
)


def main() -> None:
    """Measure and print each row, with its bare clients below."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for server, rows in (("bench.chat_server", ROWS), ("bench.template_server", (REAL,))):
        with address(None, server) as url:
            for items, steps, concurrency, transport in rows:
                plan = argparse.Namespace(
                    items=items,
                    steps=steps,
                    concurrency=concurrency,
                    transport=transport,
                    runs=runs,
                    real=rows == (REAL,),
                )
                _print(compare(url, plan))


def _print(result: dict[str, Any]) -> None:
    bare = [name for name in result if name.startswith("bare_")]
    shares = ", ".join(
        f"{result[f'share_of_{name}']:.0%} of {name.removeprefix('bare_')}" for name in bare
    )
    what = f"{result['items']:,} x {result['steps']}"
    _print_row(what, result["concurrency"], f"callwright, {result['transport']}", result, shares)
    for name in bare:
        _print_row("", "", name.replace("_", " "), result[name], "")


def _print_row(
    what: str, at_once: object, client: str, figures: dict[str, Any], share: str
) -> None:
    rate, seconds, cpu, memory = (figures[name] for name in FIGURES)
    print(
        f"| {what} | {at_once} | {client} | {rate:,.0f} | {seconds:.2f} | {cpu:.2f} | {memory:.0f}"
        f" | {share} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
