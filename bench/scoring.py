"""Score a log of HammerBench's size, 1,098 conversations.

Usage: `python -m bench.scoring LOG... [--runs N] [--json]`. A LOG is a folder with MT_res.json;
the conversations of the logs are repeated up to that number, with a number of snapshots as close
to 2,851 as they allow.

`python -m bench.scoring --predictions 100000 --kind snapshots|plans|turns|runs [--files]
[--folder DIR]` scores synthetic answers to a real release instead: the template model's answers,
under four names, many times, with mistakes put in. All answers are in the warehouse when
`callwright evaluate` starts, and all scores are when it ends; with --files they are the paper's
own result files, which `callwright score` reads. A --folder that was filled before is used
again.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.processes import cores, watch
from bench.scoring_answers import CANDIDATES, RELEASE, SOURCES, fill, recipe_of
from bench.scoring_files import write_files
from callwright.flows.settings import environment
from callwright.validators.metrics.hammerbench.logs import CONVERSATIONS, FLAGS
from callwright.warehouse.store import Warehouse

COUNT, SNAPSHOTS = 1098, 2851
# In a process of its own: what a scorer takes once its modules are there, reading the files
# included.
INSIDE = """
import sys, time
from pathlib import Path
from callwright.flows.evaluation.scoring import score_logs
started = time.perf_counter()
scoring = score_logs([Path(sys.argv[1])])
print(time.perf_counter() - started, scoring.figures["snapshots"])
"""


def main() -> None:
    """Measure and print the median of the runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logs", nargs="*", type=Path)
    parser.add_argument("--predictions", type=int, default=0)
    parser.add_argument("--kind", choices=[*SOURCES], default="snapshots")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if bool(chosen.logs) == bool(chosen.predictions):
        parser.error("Name LOG... or --predictions N, one of the two.")
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as temporary:
        folder = chosen.folder or Path(temporary) / "filled"
        result = (
            measure_answers(chosen, folder)
            if chosen.predictions
            else measure_logs(chosen, Path(temporary))
        )
    if chosen.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:>20}  {value}")


def measure_logs(chosen: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Score logs of the papers, inside a running process and as a command."""
    snapshots = write_log(chosen.logs, folder)
    inside = [
        float(run([sys.executable, "-c", INSIDE, str(folder)]).split()[0])
        for _ in range(chosen.runs)
    ]
    command = [sys.executable, "-m", "callwright", "score", "hammerbench", "--logs", str(folder)]
    whole = [clock(command) for _ in inside]
    return {
        "conversations": COUNT,
        "snapshots": snapshots,
        "runs": chosen.runs,
        "cores": cores(),
        "scoring_seconds": round(statistics.median(inside), 3),
        "command_seconds": round(statistics.median(whole), 3),
    }


def measure_answers(chosen: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Score synthetic answers; each run has a work folder without earlier scores."""
    folder.mkdir(parents=True, exist_ok=True)
    filled = fill(folder, chosen.kind, chosen.predictions)
    measured = []
    for _ in range(chosen.runs):
        with tempfile.TemporaryDirectory(prefix="callwright-bench-") as temporary:
            home = Path(shutil.copytree(filled.home, Path(temporary) / "home"))
            if chosen.files:
                warehouse = Warehouse(home / "warehouse.duckdb")
                words = ["score", *write_files(warehouse, chosen.kind, Path(temporary) / "files")]
            else:
                words = [
                    "evaluate",
                    RELEASE,
                    "--recipe",
                    str(recipe_of(folder)),
                    "--runs",
                    str(filled.runs),
                ]
            command = [sys.executable, "-m", "callwright", *words, "--json"]
            measured.append(watch(command, {**environment(), "CALLWRIGHT_HOME": str(home)}))
        if measured[-1].code:
            sys.exit(
                f"callwright {words[0]} ended with"
                f" {measured[-1].code}:\n{measured[-1].output[-2000:]}"
            )
    return {
        "kind": chosen.kind,
        "answers": filled.answers,
        "samples": filled.samples,
        "candidates": CANDIDATES,
        "runs_of_each": filled.runs,
        "read_from": "files" if chosen.files else "warehouse",
        "runs": chosen.runs,
        "cores": cores(),
        "seconds": round(statistics.median(one.seconds for one in measured), 1),
        "cpu_seconds": round(statistics.median(one.cpu_seconds for one in measured), 1),
        "peak_mb": round(max(one.peak_mb for one in measured)),
    }


def write_log(sources: list[Path], folder: Path) -> int:
    """Write a log of the paper's size, and return how many snapshots it has."""
    pairs = [
        (rows, flags)
        for source in sources
        for rows, flags in zip(read(source / CONVERSATIONS), read(source / FLAGS), strict=True)
    ]
    supply = cycle(pairs)
    kept = [next(supply) for _ in range(COUNT)]
    total = sum(len(flags) for _, flags in kept)
    for place, (_, flags) in enumerate(
        kept
    ):  # longer or shorter ones in their place, until the number is right
        low, high = sorted((len(flags), len(flags) + SNAPSHOTS - total))
        others = [
            pair for pair in pairs if low <= len(pair[1]) <= high and len(pair[1]) != len(flags)
        ]
        if others:
            kept[place] = others[0]
            total += len(others[0][1]) - len(flags)
    (folder / CONVERSATIONS).write_text(json.dumps([rows for rows, _ in kept]))
    (folder / FLAGS).write_text(json.dumps([flags for _, flags in kept]))
    return total


def read(file: Path) -> list[Any]:
    """Return the list in a log file."""
    rows: list[Any] = json.loads(file.read_bytes())
    return rows


def clock(command: list[str]) -> float:
    """Return how long a command takes, in seconds."""
    started = time.perf_counter()
    run(command)
    return time.perf_counter() - started


def run(command: list[str]) -> str:
    """Return what a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
