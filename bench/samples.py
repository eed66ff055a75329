"""Measure 10,000 template samples with all checks.

Usage: `python -m bench.samples [--count N] [--runs N] [--json]`.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from bench.processes import ProcessRun, cores, watch
from callwright.flows.settings import environment

RECIPE = """
name: bench
seed: 5
tools: [{{seed: all}}]
languages: [en, zh]
samples: {{perfect: {perfect}, imperfect: {imperfect}, irrelevant: {irrelevant}}}
"""


def main() -> None:
    """Measure and print the median of the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    runs = [measure(chosen.count) for _ in range(chosen.runs)]
    result = {
        "samples": chosen.count,
        "runs": chosen.runs,
        "cores": cores(),
        "seconds": round(statistics.median(run.seconds for run in runs), 1),
        "samples_per_second": round(
            chosen.count / statistics.median(run.seconds for run in runs), 1
        ),
        "peak_mb": round(max(run.peak_mb for run in runs)),
    }
    if chosen.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:>20}  {value}")


def measure(count: int) -> ProcessRun:
    """Run one build in its own work folder."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        recipe = Path(folder) / "bench.yaml"
        share = {"perfect": count // 2, "imperfect": count * 7 // 20}
        recipe.write_text(RECIPE.format(**share, irrelevant=count - sum(share.values())))
        inherited = {
            name: value for name, value in environment().items() if name != "PREFECT_API_URL"
        }
        run = watch(
            [sys.executable, "-m", "callwright", "build", str(recipe), "--no-review"],
            {**inherited, "CALLWRIGHT_HOME": str(Path(folder) / "home")},
        )
    if run.code:
        sys.exit(f"The build ended with {run.code}:\n{run.output[-2000:]}")
    return run


if __name__ == "__main__":
    main()
