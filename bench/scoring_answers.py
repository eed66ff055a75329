"""Synthetic answers to a real release: a candidate's answers, relabelled, with mistakes put in."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import orjson
import yaml
from pydantic import JsonValue

from callwright.flows.evaluation.answers import read_predictions
from callwright.flows.settings import environment
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.records import Call, MultiStepRun, Prediction, Record
from callwright.warehouse.store import Warehouse

RELEASE, MODEL, CANDIDATES = "bench", "template/v1", 4
_PIECE = 5000
_WORDS = (
    "north",
    "two",
    "later",
    "please",
    "the",
    "old",
    "station",
    "blue",
    "about",
    "seven",
    "晚上",
    "北京",
)


class Source(NamedTuple):
    """A recipe whose release is answered, and the factor by which its sample counts grow."""

    recipe: str
    times: float


SOURCES: dict[str, Source] = {
    "snapshots": Source("hammerbench", 4),
    "plans": Source("callnavi", 1),
    "turns": Source("confetti", 1),
    "runs": Source("complexfuncbench", 0.05),
}


class Filled(NamedTuple):
    """A work folder with answers: numbers of samples, runs per candidate, and answers in all."""

    home: Path
    samples: int
    runs: int
    answers: int


def fill(folder: Path, kind: str, count: int) -> Filled:
    """Build a release, have it answered once, and multiply the answers up to `count`.

    A folder that was filled before is used again.
    """
    home = folder / "home"
    warehouse = Warehouse(home / "warehouse.duckdb")
    if not home.exists():
        call(home, "build", str(_source(folder, SOURCES[kind])), "--no-review")
        call(home, "release", "create", RELEASE)
        call(home, "evaluate", RELEASE, "--model", MODEL, "--json")
        (_multiply_runs if kind == "runs" else _multiply)(warehouse, count)
    table = "multi_step_runs" if kind == "runs" else "predictions"
    [counted] = warehouse.rows(
        f"select count(*) as answers, count(distinct subject) as samples, max(run) + 1 as runs from {table}"  # noqa: S608
        " where starts_with(model, 'candidate')"
    )
    return Filled(home, counted["samples"], counted["runs"], counted["answers"])


def _source(folder: Path, source: Source) -> Path:
    """Write the recipe with its counts multiplied."""
    path = folder / f"{source.recipe}.yaml"
    recipe = yaml.safe_load((Path(__file__).parents[1] / "recipes" / path.name).read_text())
    recipe["samples"] = {
        name: max(1, int(count * source.times)) for name, count in recipe["samples"].items()
    }
    path.write_text(yaml.safe_dump(recipe))
    return path


def recipe_of(folder: Path) -> Path:
    """Write a recipe that names the candidates."""
    known: dict[str, object] = {
        "name": "bench",
        "tools": [{"seed": "all"}],
        "languages": ["en"],
        "samples": {"perfect": 1},
        "candidates": [{"label": label, "model": MODEL} for label in labels()],
    }
    path = folder / "candidates.yaml"
    path.write_bytes(orjson.dumps(known))
    return path


def call(home: Path, *words: str) -> str:
    """Return what a command prints; exit if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "callwright", *words],
        env={**environment(), "CALLWRIGHT_HOME": str(home)},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(
            f"callwright {' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}"
        )
    return done.stdout


def labels() -> list[str]:
    """Return the names of the candidates."""
    return [f"candidate-{number}" for number in range(CANDIDATES)]


def _multiply(warehouse: Warehouse, count: int) -> None:
    known = sorted(
        read_predictions(warehouse, CandidateRun(RELEASE, MODEL)),
        key=lambda one: (one.subject, one.turn),
    )
    tools = sorted({call.tool for one in known for call in one.calls or ()})
    runs = -(-count // (CANDIDATES * len(known)))
    made = (
        altered(one, label, run, Random(f"{one.key} {label} {run}"), tools)
        for label in labels()
        for run in range(runs)
        for one in known
    )
    for piece in _pieces(made):
        warehouse.put(piece)


def altered(one: Prediction, label: str, run: int, rng: Random, tools: Sequence[str]) -> Prediction:
    """Return the answer under another label and run, often with a mistake.

    A mistake changes a value, a name or a tool, or makes the text unreadable.
    """
    if not one.calls or rng.random() < 0.3:  # noqa: PLR2004 - as likely as not right
        return one.with_changes(model=label, run=run)
    calls = tuple(_altered_call(call, rng, tools) for call in one.calls)
    said: list[JsonValue] = [{"name": call.tool, "arguments": call.arguments} for call in calls]
    text = orjson.dumps(said if one.text.startswith("[") else said[0]).decode()
    changes: dict[str, object] = {"model": label, "run": run, "calls": calls, "text": text}
    if rng.random() < 0.03:  # noqa: PLR2004
        changes |= {"text": text[:-3], "calls": None, "problem": "The reply is not JSON."}
    return one.with_changes(**changes)


def _altered_call(call: Call, rng: Random, tools: Sequence[str]) -> Call:
    arguments = {
        name: _altered_value(value, rng) if rng.random() < 0.25 else value  # noqa: PLR2004
        for name, value in call.arguments.items()
        if rng.random() > 0.04  # noqa: PLR2004
    }
    if rng.random() < 0.04:  # noqa: PLR2004
        arguments[rng.choice(_WORDS)] = rng.randrange(10_000)
    return Call(tool=call.tool if rng.random() > 0.04 else rng.choice(tools), arguments=arguments)  # noqa: PLR2004


def _altered_value(value: JsonValue, rng: Random) -> JsonValue:
    match value:
        case str():
            words = value.split()
            words[rng.randrange(len(words) + 1) : rng.randrange(len(words) + 1)] = rng.sample(
                _WORDS, rng.randrange(3)
            )
            return " ".join(words) if rng.random() < 0.5 else f"{value} {rng.randrange(100_000)}"  # noqa: PLR2004
        case bool():
            return not value
        case int() | float():
            return value + rng.randrange(1, 1000)
        case list():
            return [_altered_value(one, rng) for one in value]
        case _:
            return value


def _multiply_runs(warehouse: Warehouse, count: int) -> None:
    rows = warehouse.rows(
        "select * exclude (key, made_at) from multi_step_runs where model = ?", [MODEL]
    )
    known = [
        MultiStepRun.model_validate({**row, "messages": orjson.loads(row["messages"])})
        for row in rows
    ]
    runs = -(-count // (CANDIDATES * len(known)))
    made = (
        _altered_run(one, label, run, Random(f"{one.subject} {label} {run}"))
        for label in labels()
        for run in range(runs)
        for one in known
    )
    for piece in _pieces(made):
        warehouse.put(piece)


def _altered_run(one: MultiStepRun, label: str, run: int, rng: Random) -> MultiStepRun:
    right = rng.randrange(one.total_calls + 1)
    changes: dict[str, object] = {
        "model": label,
        "run": run,
        "correct_calls": right,
        "success": right == one.total_calls,
        "error_type": "" if right == one.total_calls else "value_error",
        "steps": one.steps + rng.randrange(3),
    }
    return one.with_changes(**changes)


def _pieces(made: Iterator[Record]) -> Iterator[list[Record]]:
    while piece := list(islice(made, _PIECE)):
        yield piece
