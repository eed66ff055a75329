"""Build the papers' whole compositions with the template model and measure them.

Usage: `python -m bench.paper hammerbench|complexfuncbench [--runs N] [--json]`. `python -m
bench.paper all --folder DIR` builds the four papers' recipes in one work folder, HammerBench in
its paper's size, has two candidates answer a release of it, and runs the command line's other
commands there, each with `--memory` for DuckDB; `--only` runs some of them again in a folder
that was built before.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bench.processes import ProcessRun, cores, watch
from callwright.flows.settings import environment

RECIPES = Path(__file__).parents[1] / "recipes"
# What makes the paper's size of the recipe that comes along.
CHANGES: dict[str, dict[str, Any]] = {
    "hammerbench": {"scale": "paper"},
    "complexfuncbench": {},
    "confetti": {},
    "callnavi": {},
}
_CANDIDATES = [
    {"label": "exact", "model": "template/v1"},
    {
        "label": "erring",
        "model": {
            "name": "template/v1",
            "error_rate": {
                "wrong_tool": 0.05,
                "missing_argument": 0.1,
                "wrong_argument": 0.1,
                "malformed_json": 0.03,
            },
        },
    },
]
# In this order: what a command reads, another one has written. Servers are ended after a while, as
# by Ctrl-C.
_COMMANDS = """
init {folder}/begun
estimate {folder}/hammerbench.yaml
build {folder}/hammerbench.yaml
build {folder}/complexfuncbench.yaml
build {folder}/confetti.yaml
build {folder}/callnavi.yaml
release create v1 --splits train=0.8,validation=0.1,test=0.1
evaluate v1 --recipe {folder}/hammerbench.yaml
build {folder}/hammerbench.yaml
review status
review serve
review push
review pull
review audit v1
review suspects v1
review recheck v1
review training
review agreement
review status --server
review stop
release create v2 --language en --by tool --splits train=0.8,test=0.2
release list
release diff v1 v2
release verify v1
release card v1
publish
query 'from leaderboard'
query 'from costs'
query 'select count(*) from claims'
query 'select count(*) from lineage'
report --out {folder}/report.html
notebook {folder}/figures.ipynb
view --out {folder}/page
timeout --preserve-status -s INT 30 view --port 0
audit checks --release v1
export v1 --to parquet --out {folder}/exports/parquet
export v1 --to hf --out {folder}/exports/hf
export v1 --to openai --out {folder}/exports/openai
export v1 --to trl --out {folder}/exports/trl
export v1 --to sharegpt --out {folder}/exports/sharegpt
export v1 --to inspect --out {folder}/exports/inspect
export v1 --to nemo-gym --out {folder}/exports/nemo-gym
export v1 --to bfcl --out {folder}/exports/bfcl
export v1 --to records --out {folder}/exports/records
export v1 --to hammerbench --out {folder}/exports/hammerbench
export v1 --to callnavi --out {folder}/exports/callnavi
export v1 --to confetti --out {folder}/exports/confetti
export v1 --to complexfuncbench --out {folder}/exports/complexfuncbench
check records {folder}/exports/records/test.jsonl
check hammerbench {folder}/exports/hammerbench/train/en/single-turn/ST_Perfect.json
release import v3 callnavi {folder}/exports/callnavi/test
tools list
tools list --catalogs
tools check seed
tools check warehouse
tools import callnavi {folder}/exports/callnavi/test --name routed
tools make {folder}/made.yaml
recipe check {folder}/hammerbench.yaml
recipe schema
stages
doctor
stop
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper", choices=[*CHANGES, "all"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="with all: where to build, and to leave it")
    parser.add_argument(
        "--only", default="", help="with all: the commands that have this text in them"
    )
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.paper == "all":
        measure_commands(chosen)
    else:
        measure_builds(chosen)


def measure_builds(chosen: argparse.Namespace) -> None:
    """Print the median of the runs and the results of the last one."""
    built = [measure(chosen.paper) for _ in range(chosen.runs)]
    runs, reports = [run for run, _ in built], [report for _, report in built]
    result: dict[str, Any] = {
        "runs": chosen.runs,
        "cores": cores(),
        "seconds": round(statistics.median(run.seconds for run in runs), 1),
        "cpu_seconds": round(statistics.median(run.cpu_seconds for run in runs), 1),
        "peak_mb": round(max(run.peak_mb for run in runs)),
        "resident_mb": round(max(run.resident_mb for run in runs)),
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
    """Run one build of the paper's size in its own work folder, and return its report."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        run = watch(
            _command(f"build {_recipe(paper, Path(folder))} --no-review --json"),
            _settings(Path(folder)),
        )
    if run.code:
        sys.exit(f"The build ended with {run.code}:\n{run.output[-2000:]}")
    return run, json.loads(run.output[run.output.index("\n{") :])  # behind the progress


def measure_commands(chosen: argparse.Namespace) -> None:
    """Print the seconds and peak memory of each command when it ends.

    The command's output is kept beside the work folder.
    """
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as temporary:
        folder = (chosen.folder or Path(temporary)).absolute()
        rows = []
        for row in _measured(folder, chosen.only, chosen.memory):
            rows.append(row)
            if not chosen.json:
                print(
                    "{seconds:>8}  {cpu_seconds:>8}  {peak_mb:>6}  {exit:>3}  {load:>5}  {command}".format(
                        **row
                    ),
                    flush=True,
                )
    if chosen.json:
        print(json.dumps(rows, indent=2))


def _measured(folder: Path, only: str, memory: str) -> Iterator[dict[str, Any]]:
    (folder / "printed").mkdir(parents=True, exist_ok=True)
    for paper in CHANGES:
        _recipe(paper, folder)
    made = yaml.safe_load((folder / "hammerbench.yaml").read_text(encoding="utf-8")) | {
        "name": "made",
        "tools": [{"generate": "all"}],
    }
    (folder / "made.yaml").write_text(yaml.safe_dump(made), encoding="utf-8")
    settings = {**_settings(folder), "CALLWRIGHT_DUCKDB_MEMORY": memory}
    for number, command in enumerate(_COMMANDS.strip().splitlines()):
        if only in command:
            run = watch(_command(command.format(folder=folder)), settings)
            (folder / "printed" / f"{number:02}.txt").write_text(run.output, encoding="utf-8")
            yield {
                "command": command.replace("{folder}/", ""),
                "exit": run.code,
                "seconds": round(run.seconds, 1),
                "cpu_seconds": round(run.cpu_seconds, 1),
                "peak_mb": round(run.peak_mb),
                "load": round(os.getloadavg()[0], 1),
            }


def _recipe(paper: str, folder: Path) -> Path:
    """Write the paper's recipe to a folder, with two candidates."""
    loaded = yaml.safe_load((RECIPES / f"{paper}.yaml").read_text(encoding="utf-8"))
    path = folder / f"{paper}.yaml"
    path.write_text(
        yaml.safe_dump(loaded | CHANGES[paper] | {"candidates": _CANDIDATES}), encoding="utf-8"
    )
    return path


def _settings(folder: Path) -> dict[str, str]:
    inherited = {name: value for name, value in environment().items() if name != "PREFECT_API_URL"}
    return {**inherited, "CALLWRIGHT_HOME": str(folder / "home")}


def _command(words: str) -> list[str]:
    """Return a callwright command, run under `timeout` if it begins so."""
    first, *rest = shlex.split(words)
    ours = [sys.executable, "-m", "callwright"]
    return [first, *rest[:4], *ours, *rest[4:]] if first == "timeout" else [*ours, first, *rest]


if __name__ == "__main__":
    main()
