"""Scoring a log of HammerBench's size, 1,098 conversations: `python -m bench.scoring LOG... [--runs N] [--json]`.

A LOG is a folder with MT_res.json; conversations of the logs named are repeated until there are as many, and as many
snapshots as near to 2,851 as they allow.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.processes import cores
from validators.metrics.hammerbench_logs import CONVERSATIONS, FLAGS

COUNT, SNAPSHOTS = 1098, 2851
# In a process of its own: what a scorer takes once its modules are there, reading the files included.
INSIDE = """
import sys, time
from pathlib import Path
from flows.scoring import score_logs
started = time.perf_counter()
scoring = score_logs([Path(sys.argv[1])])
print(time.perf_counter() - started, scoring.figures["snapshots"])
"""


def main() -> None:
    """Measure and print the median of the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        snapshots = write_log(chosen.logs, Path(folder))
        inside = [float(run([sys.executable, "-c", INSIDE, folder]).split()[0]) for _ in range(chosen.runs)]
        whole = [
            clock([sys.executable, "-m", "flows.cli.run", "score", "hammerbench", "--logs", folder]) for _ in inside
        ]
    result = {
        "conversations": COUNT,
        "snapshots": snapshots,
        "runs": chosen.runs,
        "cores": cores(),
        "scoring_seconds": round(statistics.median(inside), 3),
        "command_seconds": round(statistics.median(whole), 3),
    }
    if chosen.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:>20}  {value}")


def write_log(sources: list[Path], folder: Path) -> int:
    """Write a log of the paper's size; how many snapshots it has."""
    pairs = [
        (rows, flags)
        for source in sources
        for rows, flags in zip(read(source / CONVERSATIONS), read(source / FLAGS), strict=True)
    ]
    supply = cycle(pairs)
    kept = [next(supply) for _ in range(COUNT)]
    total = sum(len(flags) for _, flags in kept)
    for place, (_, flags) in enumerate(kept):  # longer or shorter ones in their place, until the number is right
        low, high = sorted((len(flags), len(flags) + SNAPSHOTS - total))
        others = [pair for pair in pairs if low <= len(pair[1]) <= high and len(pair[1]) != len(flags)]
        if others:
            kept[place] = others[0]
            total += len(others[0][1]) - len(flags)
    (folder / CONVERSATIONS).write_text(json.dumps([rows for rows, _ in kept]))
    (folder / FLAGS).write_text(json.dumps([flags for _, flags in kept]))
    return total


def read(file: Path) -> list[Any]:
    """The list in a log's file."""
    return json.loads(file.read_bytes())


def clock(command: list[str]) -> float:
    """How long a command takes."""
    started = time.perf_counter()
    run(command)
    return time.perf_counter() - started


def run(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
