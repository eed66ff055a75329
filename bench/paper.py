"""A paper's whole composition with the template model: `python -m bench.paper hammerbench|complexfuncbench [--runs N] [--json]`."""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from bench.processes import ProcessRun, cores, watch
from flows.settings import environment

RECIPES = Path(__file__).parents[1] / "recipes"
# What makes the paper's size of the recipe that comes along.
CHANGES: dict[str, dict[str, Any]] = {"hammerbench": {"scale": "paper"}, "complexfuncbench": {}}


def main() -> None:
    """Measure and print the median of the runs, and what the last one made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", choices=CHANGES)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    built = [measure(chosen.paper) for _ in range(chosen.runs)]
    runs, reports = [run for run, _ in built], [report for _, report in built]
    result: dict[str, Any] = {
        "runs": chosen.runs,
        "cores": cores(),
        "seconds": round(statistics.median(run.seconds for run in runs), 1),
        "peak_mb": round(max(run.peak_mb for run in runs)),
        "landed": reports[-1]["landed"],
    }
    if chosen.json:
        tables = {name: reports[-1][name] for name in ("composition", "paths")}
        print(json.dumps(result | tables, indent=2))
        return
    for name, value in result.items():
        print(f"{name:>10}  {value}")
    for row in (*reports[-1]["composition"], *reports[-1]["paths"]):
        print("  ".join(f"{name} {value}" for name, value in row.items()))


def measure(paper: str) -> tuple[ProcessRun, dict[str, Any]]:
    """One build of the paper's size in a work folder of its own, and its report."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        recipe = Path(folder) / f"{paper}.yaml"
        loaded = yaml.safe_load((RECIPES / recipe.name).read_text(encoding="utf-8"))
        recipe.write_text(yaml.safe_dump(loaded | CHANGES[paper]), encoding="utf-8")
        inherited = {name: value for name, value in environment().items() if name != "PREFECT_API_URL"}
        run = watch(
            [sys.executable, "-m", "flows.cli", "build", str(recipe), "--no-review", "--json"],
            {**inherited, "CALLWRIGHT_HOME": str(Path(folder) / "home")},
        )
    if run.code:
        sys.exit(f"The build ended with {run.code}:\n{run.output[-2000:]}")
    return run, json.loads(run.output[run.output.index("\n{") :])  # behind the progress)


if __name__ == "__main__":
    main()
