"""Small builds for the tests of flows: recipes, settings, the command line, and counts of all
that is kept.
"""

import asyncio
import io
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from callwright.flows import stages
from callwright.flows.cli.main import main
from callwright.flows.progress import Progress, SilentProgress
from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import build_dataset
from callwright.flows.settings import Settings, open_warehouse, read_settings
from callwright.warehouse.records import Sample
from callwright.warehouse.store import Warehouse
from callwright.warehouse.tables import tables
from tests.support.flows.model_server import MODEL, ModelServer
from tests.support.new_warehouses import begin_warehouse

TOP = Path(__file__).parents[3]
TOOLS = [{"seed": ["Weather", "Banking", "Music", "Trains"]}]
KINDS = {"perfect": 8, "imperfect": 6, "irrelevant": 4}
# A machine's cores are shared by the workers of a run, as its ports are. Builds with more are in
# test_crashes, test_resuming, test_dask_workers and test_quiet.
ONE_WORKER = {"CALLWRIGHT_WORKERS": "1"}
UNMEASURED: dict[str, Any] = {"readers": {"planted": 0}}


def settings_of(home: Path, **more: str) -> Settings:
    """What the product reads of the environment of the tests' own commands, so that both run
    with the settings of a user.
    """
    return read_settings(environment(home, **more))


def settings_in_recipe(**changes: Any) -> dict[str, Any]:
    """A small recipe's settings, as they stand in its file."""
    recipe = {
        "name": "small",
        "seed": 3,
        "tools": TOOLS,
        "languages": ["en", "zh"],
        "samples": KINDS,
        "shard_size": 50,
    }
    return recipe | changes


def unmeasured_settings_in_recipe(**changes: Any) -> dict[str, Any]:
    """The same where readers are not measured, which asks them about ten samples more: for tests
    that count what is asked.
    """
    return settings_in_recipe(**UNMEASURED | changes)


def small_recipe(**changes: Any) -> Recipe:
    return parse_recipe(settings_in_recipe(**changes), Path(), "small")


def unmeasured_recipe(**changes: Any) -> Recipe:
    """A small recipe whose readers are not measured."""
    return small_recipe(**UNMEASURED | changes)


def stub_settings(server: ModelServer, **changes: Any) -> dict[str, Any]:
    """A model of the stub server, as a recipe names it."""
    known = {"name": MODEL, "api_base": server.url, "structured": "schema", "attempts": 2}
    return known | changes


def stub_roles(server: ModelServer, **changes: Any) -> dict[str, Any]:
    return dict.fromkeys(("generator", "checker", "judge"), stub_settings(server, **changes))


def build(recipe: Recipe, settings: Settings, progress: Progress | None = None) -> BuildReport:
    return asyncio.run(build_dataset(recipe, settings, progress or SilentProgress()))


def write_recipe(folder: Path, **changes: Any) -> Path:
    path = folder / f"{changes.get('name', 'small')}.yaml"
    path.write_text(yaml.safe_dump(settings_in_recipe(**changes)), encoding="utf-8")
    return path


def write_unmeasured_recipe(folder: Path, **changes: Any) -> Path:
    """The file of a small recipe whose readers are not measured."""
    return write_recipe(folder, **UNMEASURED | changes)


def environment(home: Path, **more: str) -> dict[str, str]:
    """Where things are, and how many processes a build starts: the rest is as a user has it."""
    return (
        {"PATH": "/usr/bin:/bin", "HOME": str(home), "CALLWRIGHT_HOME": str(home)}
        | ONE_WORKER
        | more
    )


def start(*words: str, home: Path, **more: str) -> "subprocess.Popen[str]":
    if words[0] == "build":
        begin_warehouse(home / "warehouse.duckdb")
    return subprocess.Popen(
        [sys.executable, "-m", "callwright", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=TOP,
        env=environment(home, **more),
        start_new_session=True,
    )


def _locale() -> dict[str, str]:
    """What this process is told of texts; a start of Python would set it, and duckling reads it
    when it is loaded.
    """
    return {name: os.environ[name] for name in ("LANG", "LC_ALL", "LC_CTYPE") if name in os.environ}


def run_here(*words: str, home: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """A command of the command line in this process: what it prints and its exit code, without
    the second that a start takes.
    """
    stdout, stderr = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)
    )
    with (
        mock.patch.dict(os.environ, _locale() | environment(home, **more), clear=True),
        mock.patch.object(sys, "argv", ["callwright", *words]),
        mock.patch.object(sys, "stdin", io.StringIO()),
        chdir(TOP),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
    printed, stated = (stream.buffer.getvalue().decode() for stream in (stdout, stderr))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, int(str(code or 0)), printed, stated)


def run(*words: str, home: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """The same in a process of its own."""
    process = start(*words, home=home, **more)
    stdout, stderr = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


BETWEEN = "\x1e"  # what one command prints and what the next one does
_ALL_IN_ONE = """
import json, sys
from callwright.flows.cli import main
for at, words in enumerate(json.loads(sys.argv[1])):
    print("\\x1e" * bool(at), end="")
    sys.argv = ["callwright", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


def one_start(python: Path | str, *commands: Sequence[str]) -> list[str]:
    """The words that carry out commands in one process of this Python, up to the first that
    fails.
    """
    return [str(python), "-c", _ALL_IN_ONE, json.dumps(commands)]


def warehouse_of(settings: Settings) -> Warehouse:
    return open_warehouse(settings)


def one(settings: Settings, sql: str) -> Any:
    """The one value that a query gives."""
    [row] = warehouse_of(settings).rows(sql)
    [value] = row.values()
    return value


def untimed(printed: str) -> list[str]:
    """The lines that a build printed, without the seconds that it took and the room that these
    need.
    """
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    timed = [bool(at) and lines[at - 1].startswith("calls known") for at in range(len(lines))]
    return [
        line.rpartition(" ")[0] if is_timed else line
        for line, is_timed in zip(lines, timed, strict=True)
    ]


def row_counts(settings: Settings) -> dict[str, int]:
    """How many rows each table has, and the ledger."""
    found = warehouse_of(settings).rows_by_name(
        {table: (f"select count(*) as n from {table}", ()) for table in tables()}
    )
    counts = {table: rows[0]["n"] for table, rows in found.items()}
    ledger = sqlite3.connect(settings.ledger)
    [(counts["answers"],)] = ledger.execute("select count(*) from answers").fetchall()
    ledger.close()
    return counts


def patiently(is_so: Callable[[], bool]) -> None:
    """Wait a minute at most until something is so."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def sample_keys(settings: Settings) -> list[str]:
    return [
        row["key"] for row in warehouse_of(settings).rows("select key from samples order by key")
    ]


def accepted_samples(settings: Settings) -> list[Sample]:
    """All samples that builds have landed, by key."""
    rows = warehouse_of(settings).rows("select body from accepted_samples order by key")
    return [Sample.model_validate_json(row["body"]) for row in rows]


def assert_balanced(report: BuildReport, settings: Settings) -> None:
    """Nothing is silent and nothing is lost: at every stage, from stage to stage, and over the
    whole build.
    """
    for row in report.funnel:
        assert row.entered == row.passed + row.rejected + row.failed + row.waiting, row
    found = {row.stage: row for row in report.funnel}
    chain = [
        stage.name
        for stage in stages.all_stages()
        if stage.group in {"single_turn", "consistency", "landing"}
    ]
    met = list(found)
    assert met == chain[: len(met)]
    for before, after in pairwise(met):
        assert found[after].entered == found[before].passed, (before, after)
    ended = sum(row.rejected + row.failed + row.waiting for row in report.funnel)
    assert report.planned == report.landed + ended
    reasonless = "select count(*) from outcomes where outcome <> 'passed' and reason = ''"
    assert one(settings, reasonless) == 0


def leftovers(settings: Settings) -> list[Path]:
    """Files of shards that nobody needs any more."""
    folder = settings.home / "shards"
    return sorted(folder.rglob("*")) if folder.exists() else []
