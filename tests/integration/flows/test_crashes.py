"""What a machine does to a build: broken files, held files, bugs, killed workers.

Told, and gone on from.
"""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import dedent, indent
from threading import Event

import pytest

from callwright.flows.loops import run_loop
from callwright.flows.run.work import Shard, ShardResult
from callwright.flows.settings import Settings
from callwright.warehouse.errors import StoreError
from callwright.warehouse.waiting import Busy, when_free
from tests.support.flows.carriers import CarrierByFunction
from tests.support.flows.small_builds import (
    TOP,
    build,
    environment,
    leftovers,
    run_here,
    settings_of,
    start,
    unmeasured_recipe,
    write_unmeasured_recipe,
)
from tests.support.new_warehouses import begin_warehouse

FEW = {"perfect": 6, "irrelevant": 2}


def test_a_ledger_that_is_no_database_is_named_and_the_build_goes_on_without_it_by_any_number_of_workers(
    tmp_path: Path,
) -> None:
    for workers in (1, 2):
        home = tmp_path / str(workers)
        home.mkdir()
        ledger = home / "ledger.sqlite"
        ledger.write_bytes(b"This is no database. " * 400)
        recipe = write_unmeasured_recipe(tmp_path, samples=FEW)
        done = run_here("build", str(recipe), home=home, CALLWRIGHT_WORKERS=str(workers))
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert str(ledger) in done.stderr
        assert "Move the file away to go on" in done.stderr
        assert "Traceback" not in done.stderr
        ledger.rename(home / "broken")
        assert run_here("build", str(recipe), home=home).returncode == 0
        assert leftovers(settings_of(home)) == []


def test_somebody_elses_database_is_not_written_to(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    connection = sqlite3.connect(settings.ledger)
    connection.execute("create table precious (value text)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="no ledger"):
        build(unmeasured_recipe(samples=FEW), settings)


HOLDING = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_warehouse_that_another_process_holds_is_waited_for_and_then_named(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    recipe = write_unmeasured_recipe(tmp_path, samples=FEW)
    settings = settings_of(home)
    home.mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(settings.warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        done = run_here("build", str(recipe), home=home, CALLWRIGHT_PATIENCE="0.5")
    finally:
        holder.stdin.close()
        holder.wait(10)
        holder.stdout.close()
    assert (done.returncode, done.stdout) == (1, "")
    assert f"stayed locked by process {holder.pid}" in done.stderr
    assert "for 0.5 s" in done.stderr
    assert "Traceback" not in done.stderr
    assert run_here("build", str(recipe), home=home).returncode == 0


@pytest.mark.parametrize(
    ("words", "ending"),
    [(("build", "RECIPE"), signal.SIGTERM), (("query", "select 1"), signal.SIGINT)],
)
def test_a_command_that_waits_for_the_warehouse_is_ended_at_once(
    tmp_path: Path, words: tuple[str, ...], ending: signal.Signals
) -> None:
    home = tmp_path / "home"
    recipe = write_unmeasured_recipe(tmp_path, samples=FEW)
    begin_warehouse(home / "warehouse.duckdb")
    words = tuple(str(recipe) if word == "RECIPE" else word for word in words)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(home / "warehouse.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waiting = start(*words, home=home)
        assert waiting.stderr is not None
        while "is locked by process" not in waiting.stderr.readline():
            assert waiting.poll() is None
        waiting.send_signal(ending)
        _, said = waiting.communicate(timeout=30)
        assert (waiting.returncode, "Stopped" in said, "Traceback" in said) == (130, True, False)
        assert holder.stdin is not None
        holder.stdin.close()


def test_a_query_without_end_is_ended_at_once(tmp_path: Path) -> None:
    begin_warehouse(tmp_path / "warehouse.duckdb")
    endless = "select count(*) from range(10000000000) a, range(10000000000) b"
    asking = start("query", endless, home=tmp_path)
    while not list(tmp_path.glob(".reading-*/warehouse.duckdb")):
        assert asking.poll() is None
    asking.send_signal(signal.SIGTERM)
    printed, said = asking.communicate(timeout=30)
    assert (asking.returncode, printed, "Stopped" in said, "Traceback" in said) == (
        130,
        "",
        True,
        False,
    )
    limited = run_here("query", endless, "--timeout", "0.3", home=tmp_path)
    assert (limited.returncode, limited.stderr) == (
        1,
        "callwright: The query took longer than 0.3 s and was stopped.\n",
    )


STOPPED_WHILE_A_CLASS_IS_MADE = """
import sys
from callwright.flows.cli import main
root = sys.modules["callwright.flows.cli.main"]

class Named:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

def app(prog_name):
    if sys.argv[1] == "duckdb":  # its words when a signal meets it
        raise RuntimeError("Query interrupted")

    class Owner:
        named = Named()

root.app = app
main()
"""


def ran_apart(code: str, *words: str) -> "subprocess.CompletedProcess[str]":
    words = (sys.executable, "-c", code, *words)
    return subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)


@pytest.mark.parametrize("met", ["class", "duckdb"])
def test_a_stop_that_is_told_as_another_error_is_a_stop(met: str) -> None:
    ran = ran_apart(STOPPED_WHILE_A_CLASS_IS_MADE, met)
    assert (ran.returncode, ran.stderr) == (130, "Stopped.\n")


STOPPED_IN_A_FINALIZER = """
import signal, time
from callwright.flows.cli.main import _end_by_signals

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

_end_by_signals()
try:
    Finalized()
    time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
"""


def test_a_stop_that_compiled_code_or_a_finalizer_took_is_asked_for_again() -> None:
    ran = ran_apart(STOPPED_IN_A_FINALIZER)
    assert (ran.stdout, ran.stderr) == ("stopped\n", "")


def test_a_thread_that_waits_ends_with_the_loop_that_it_belongs_to() -> None:
    began = Event()

    def wait_in_vain() -> None:
        began.set()
        raise Busy("somebody")

    async def wait() -> None:
        thread = asyncio.create_task(
            asyncio.to_thread(when_free, wait_in_vain, "The warehouse", 600, print)
        )
        await asyncio.to_thread(began.wait)
        signal.raise_signal(signal.SIGINT)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
        await thread

    with pytest.raises(StoreError, match="was stopped"):
        run_loop(wait())


def test_a_work_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    home = tmp_path / "file" / "home"
    done = run_here("build", str(write_unmeasured_recipe(tmp_path, samples=FEW)), home=home)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(home) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_setting_of_the_environment_that_is_no_number_is_asked_wrongly(tmp_path: Path) -> None:
    done = run_here(
        "build",
        str(write_unmeasured_recipe(tmp_path)),
        home=tmp_path / "home",
        CALLWRIGHT_WORKERS="many",
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "CALLWRIGHT_WORKERS" in done.stderr
    assert "Traceback" not in done.stderr


def _with_shards(settings: Settings, work: object, slots: int) -> None:
    """Run the first group of a small build with workers of our own."""
    from callwright.flows.progress import SilentProgress
    from callwright.flows.run.plan import make_samples, open_build

    run_ = open_build(unmeasured_recipe(samples=FEW, shard_size=2), settings, SilentProgress())
    asyncio.run(make_samples(run_, CarrierByFunction(work, slots), [*run_.recipe.samples]))  # type: ignore[arg-type]


@pytest.mark.parametrize("slots", [1, 2])
def test_a_bug_in_a_shard_is_loud(tmp_path: Path, slots: int) -> None:
    async def break_down(shard: Shard) -> ShardResult:
        raise KeyError("a bug")

    with pytest.raises(ExceptionGroup) as caught:
        _with_shards(settings_of(tmp_path), break_down, slots)
    assert caught.value.subgroup(KeyError) is not None
    assert leftovers(settings_of(tmp_path)) == []


RUNNING = """
import callwright.flows.run.carry, mishap
from callwright.flows.cli import main

if __name__ == "__main__":
    callwright.flows.run.carry.work_alone = mishap.befall
    main()
"""


def build_by_two_workers_with(mishap: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """A build with two workers that whatever `mishap` says befalls instead of their shards."""
    body = indent(dedent(mishap), "    ")
    (folder / "mishap.py").write_text(
        f"import os, signal, time\n\n\ndef befall(shard):\n{body}\n", encoding="utf-8"
    )
    (folder / "running.py").write_text(RUNNING, encoding="utf-8")
    begin_warehouse(folder / "home" / "warehouse.duckdb")
    return subprocess.run(
        [
            sys.executable,
            str(folder / "running.py"),
            "build",
            str(write_unmeasured_recipe(folder, samples=FEW, shard_size=5)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(folder / "home", PYTHONPATH=f"{TOP}:{folder}", CALLWRIGHT_WORKERS="2"),
    )


def test_a_bug_ends_the_command_with_a_traceback(tmp_path: Path) -> None:
    done = build_by_two_workers_with("raise KeyError('a bug')", tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "KeyError: 'a bug'" in done.stderr


def test_ctrl_c_that_meets_an_import_in_the_middle_of_a_query_stops_the_command(
    tmp_path: Path,
) -> None:
    code = """
        import sys
        import duckdb
        from callwright.flows.cli.main import app, main

        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == "pytz":
                    raise KeyboardInterrupt

        @app.command("ask")
        def ask():
            sys.meta_path.insert(0, Interrupting())
            duckdb.connect().execute("select now()").fetchall()

        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code), "ask"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


def test_a_worker_that_is_killed_is_told(tmp_path: Path) -> None:
    done = build_by_two_workers_with("os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    assert done.returncode == 1
    assert "A worker process was killed" in done.stderr
    assert "Traceback" not in done.stderr


def test_where_one_shard_fails_the_others_write_no_more_before_their_files_are_cleared_away(
    tmp_path: Path,
) -> None:
    done = build_by_two_workers_with(
        """
        from callwright.warehouse.errors import StoreError
        if shard.number == 0:
            while not [*shard.source.parent.glob("[0-9]*")]:  # until the other one is under way
                time.sleep(0.01)
            raise StoreError("The ledger is broken.")
        while True:
            (shard.source.parent / str(time.monotonic_ns())).touch()
        """,
        tmp_path,
    )
    assert done.returncode == 1
    assert "The ledger is broken." in done.stderr
    assert "Traceback" not in done.stderr
    assert leftovers(settings_of(tmp_path / "home")) == []
