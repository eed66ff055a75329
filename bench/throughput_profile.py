"""Profile a call's time by the code that spends it: `python -m bench.throughput_profile`.

Options: `[-n 3000] [-c 256]`.
"""

import argparse
import asyncio
import cProfile
import pstats
from collections import Counter
from typing import Any, cast

from bench.throughput import address
from bench.throughput_run import ThroughputPlan, run

PARTS = (  # the first word that a function's place holds
    ("aiohttp", ("aiohttp", "yarl", "multidict", "frozenlist", "propcache", "aiosignal")),
    ("event loop", ("asyncio", "selectors")),
    ("waiting and sending", ("poll", "_socket")),
    ("ledger", ("llm/ledger.py", "sqlite")),
    ("our client", ("llm/openai_model.py", "llm/wire_format.py", "llm/wire_format.py")),
    ("asking, gate, slots", ("llm/",)),
    ("pydantic and orjson", ("pydantic", "orjson")),
    ("bench", ("bench/",)),
)


def main() -> None:
    """Profile one run and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--items", type=int, default=3000)
    parser.add_argument("-c", "--concurrency", type=int, default=256)
    chosen = parser.parse_args()
    profile = cProfile.Profile()
    with address(None) as url:
        plan = ThroughputPlan("callwright-lean", url, chosen.items, 1, chosen.concurrency)
        profile.runcall(asyncio.run, run(plan))
    spent: Counter[str] = Counter()
    stats = cast("dict[tuple[str, int, str], Any]", vars(pstats.Stats(profile))["stats"])
    for (file, _, function), (_, _, own, *_) in stats.items():
        spent[_part(f"{file} {function}")] += own
    for part, seconds in spent.most_common():
        print(f"| {part} | {seconds / spent.total():.0%} |")


def _part(place: str) -> str:
    return next(
        (part for part, words in PARTS if any(word in place for word in words)),
        "the rest of Python",
    )


if __name__ == "__main__":
    main()
