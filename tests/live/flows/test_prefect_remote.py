"""Past one machine: builds whose shards go to a Dask cluster, or to a Prefect pool, of workers that share no disk with them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from prefect.workers.process import ProcessWorker

from flows.remote.exchange import Exchange
from tests.support.flows.distant import counts
from tests.support.flows.model_server import ModelServer
from tests.support.flows.prefect_api import Known
from tests.support.flows.small_builds import one, run, settings_of, start, stub_roles, warehouse_of, write_recipe
from tests.support.servers import HeardPrefect

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket, pytest.mark.xdist_group("prefect")]
TEMPLATE = ProcessWorker.get_default_base_job_template()
MANY = {"perfect": 120, "imperfect": 60, "irrelevant": 20}
KEPT = (
    "select key, body from samples order by key",
    "select build, stage, subject, outcome, reason from outcomes order by all",
    "select subject, recipe, proved, accepted_by from acceptances order by all",
    "select count(*) as calls, sum(cost) as cost from llm_calls where not cached",
)


@pytest.fixture
def known(prefect_server: HeardPrefect) -> Known:
    return Known(prefect_server)


@pytest.fixture
def shown(prefect_server: HeardPrefect, tmp_path: Path) -> dict[str, str]:
    """The environment of a command line whose builds Prefect shows."""
    return prefect_server.environment | {"PREFECT_API_URL": prefect_server.server.api, "HOME": str(tmp_path)}


def kept(home: Path) -> list[list[dict[str, Any]]]:
    warehouse = warehouse_of(settings_of(home))
    return list(warehouse.rows_by_name({sql: (sql, []) for sql in KEPT}).values())


def away(tmp_path: Path) -> dict[str, str]:
    """An exchange and a scratch folder below other roots than the work folder's."""
    return {"CALLWRIGHT_EXCHANGE": f"file://{tmp_path}/exchange", "CALLWRIGHT_SCRATCH": str(tmp_path / "scratch")}


def make_pool(known: Known, name: str) -> None:
    """A pool that takes two shards at once."""
    known.ask("work_pools/", {"name": name, "type": "process", "concurrency_limit": 2, "base_job_template": TEMPLATE})


def answers_on(folder: Path) -> int:
    """How many answers couriers have carried to an exchange."""
    exchange = Exchange(f"file://{folder}")
    notes = [exchange.get(name) for name in exchange.names("") if "/notes-" in name]
    return sum(len(note["answers.txt"].splitlines()) for note in notes if note)


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@contextmanager
def pool_worker(pool: str, folder: Path, shown: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker of a pool with homes of its own, ended with all that it started."""
    folder.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        **shown,
        "HOME": str(folder),
        "CALLWRIGHT_HOME": str(folder / "no-work-folder"),
        "CALLWRIGHT_SCRATCH": str(folder / "scratch"),
        "PREFECT_WORKER_QUERY_SECONDS": "1",
    }
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--type", "process", "--limit", "1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            yield process
        finally:
            end_whole(process.pid)
            process.wait(20)


def end_whole(pid: int) -> None:
    """End a process that this test started, and those that it started, by their ids."""
    try:
        top = psutil.Process(pid)
        family = [*top.children(recursive=True), top]
    except psutil.NoSuchProcess:
        return
    for member in family:
        try:
            member.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def until(found: Any, patience: float = 60) -> Any:
    end = time.monotonic() + patience
    while not (result := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
    return result


def test_two_workers_of_a_pool_keep_the_rows_of_a_build_at_home(
    known: Known, shown: dict[str, str], tmp_path: Path
) -> None:
    recipe = write_recipe(tmp_path, name="pooled", samples=MANY, shard_size=60)
    plain = run("build", str(recipe), "--no-review", home=tmp_path / "plain")
    pool = {"CALLWRIGHT_WORKERS": "pool:afar", **away(tmp_path)}
    make_pool(known, "afar")
    with pool_worker("afar", tmp_path / "one", shown), pool_worker("afar", tmp_path / "two", shown):
        far = run("build", str(recipe), "--no-review", home=tmp_path / "far", **shown, **pool)
    assert (far.returncode, far.stdout) == (0, plain.stdout), far.stderr
    assert kept(tmp_path / "far") == kept(tmp_path / "plain")
    worked = [found for found in known.runs("work-shard") if "exchange" in found["parameters"]]
    landed = one(settings_of(tmp_path / "far"), "select count(*) from landed_shards")
    assert len([found for found in worked if found["state_type"] == "COMPLETED"]) == landed > 2
    for worker in ("one", "two"):
        assert not (tmp_path / worker / "no-work-folder").exists()
        assert list((tmp_path / worker / "scratch").rglob("ledger.sqlite")), "both have worked"
    assert files_below(tmp_path / "exchange") == []


def test_a_worker_of_a_pool_that_is_killed_loses_nothing_and_doubles_nothing(
    known: Known, shown: dict[str, str], model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.delay = 0.2
    models = stub_roles(model_server, concurrency=4)
    recipe = write_recipe(tmp_path, name="killed", models=models, samples={"perfect": 24}, shard_size=12)
    pool = {"CALLWRIGHT_WORKERS": "pool:shaky", **away(tmp_path)}
    make_pool(known, "shaky")
    with pool_worker("shaky", tmp_path / "one", shown), pool_worker("shaky", tmp_path / "two", shown):
        building = start("build", str(recipe), "--no-review", home=tmp_path / "far", **shown, **pool)
        worked = until(lambda: [at for at in ("one", "two") if files_below(tmp_path / at / "scratch")])[0]
        carried = until(lambda: answers_on(tmp_path / "exchange"))
        # The process that works the shard, not the worker that has started it: that one sees it crash.
        victims = [p for p in psutil.process_iter(["environ"]) if is_flow_of(p, tmp_path / worked)]
        for victim in victims:
            victim.kill()
        answered = model_server.answered.total()
        _, stderr = building.communicate(timeout=120)
    assert victims
    assert building.returncode == 0, stderr
    settings = settings_of(tmp_path / "far")
    made = "select count(*) as drafts, count(distinct sample) as samples from build_samples"
    assert warehouse_of(settings).rows(made) == [{"drafts": 24, "samples": 24}]
    assert one(settings, "select count(*) from acceptances") == 24
    assert {row["entered"] for row in warehouse_of(settings).rows("select entered from funnel")} == {24}
    doubled = "select count(*) - count(distinct (stage, request)) from llm_calls where not cached and error = ''"
    assert one(settings, doubled) == 0
    again = model_server.answered.total() - len(model_server.answered)
    assert again <= answered - carried + 4, "what came after the courier's last way, and what was under way"
    assert "CRASHED" in {found["state_type"] for found in known.runs("work-shard")}


def is_flow_of(process: psutil.Process, folder: Path) -> bool:
    """Whether a process carries out a flow run for the worker with this home, by its environment."""
    try:
        environment = process.environ()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return environment.get("HOME") == str(folder) and any("FLOW_RUN_ID" in name for name in environment)


def test_a_dask_cluster_keeps_the_rows_of_a_build_at_home_also_where_a_worker_is_killed(
    shown: dict[str, str], tmp_path: Path
) -> None:
    recipe = write_recipe(tmp_path, name="dasked", samples=MANY, shard_size=40)
    plain = run("build", str(recipe), "--no-review", home=tmp_path / "plain")
    dask = {"CALLWRIGHT_WORKERS": "dask:2", **away(tmp_path)}
    building = start("build", str(recipe), "--no-review", home=tmp_path / "far", **dask)
    until(lambda: files_below(tmp_path / "scratch"))
    workers = [
        p for p in psutil.Process(building.pid).children(recursive=True) if "spawn_main" in " ".join(p.cmdline())
    ]
    workers[-1].kill()
    stdout, stderr = building.communicate(timeout=120)
    assert (building.returncode, stdout) == (0, plain.stdout), stderr
    assert kept(tmp_path / "far") == kept(tmp_path / "plain")
    ours, theirs = counts(settings_of(tmp_path / "far")), counts(settings_of(tmp_path / "plain"))
    assert ours.pop("landed_shards") > theirs.pop("landed_shards") == 0
    assert ours == theirs
    assert files_below(tmp_path / "exchange") == []


def test_flows_that_run_at_once_share_a_model_s_limit(
    known: Known, shown: dict[str, str], model_server: ModelServer, tmp_path: Path
) -> None:
    known.ask("v2/concurrency_limits/", {"name": "openai:stub", "limit": 2})
    model_server.delay = 0.05
    models = stub_roles(model_server, concurrency=8)
    recipes = [write_recipe(tmp_path, name=name, models=models, samples={"perfect": 6}) for name in ("this", "that")]
    builds = [start("build", str(path), "--no-review", home=tmp_path / path.stem, **shown) for path in recipes]
    ended = [build.communicate(timeout=120) for build in builds]
    assert [build.returncode for build in builds] == [0, 0], ended
    assert 0 < model_server.most_at_once <= 2


def test_what_prefect_keeps_of_a_build_does_not_grow_with_its_records(
    known: Known, shown: dict[str, str], tmp_path: Path
) -> None:
    sizes = []
    for name, count in (("few", 20), ("more", 200)):
        recipe = write_recipe(tmp_path, name=name, samples={"perfect": count}, shard_size=count)
        assert run("build", str(recipe), "--no-review", home=tmp_path / name, **shown).returncode == 0
        [build] = [found for found in known.runs("build-dataset") if found["name"] == name]
        groups = known.groups(build).values()
        tasks = [task for group in groups for task in known.tasks(group)]
        artifacts = [artifact for group in groups for artifact in known.artifacts(group)]
        told = [*tasks, *artifacts]
        sizes.append((len(told), sum(len(str(one_of)) for one_of in told)))
    (few_told, few_size), (more_told, more_size) = sizes
    assert more_told <= few_told + 1  # a shard more, for they are cut by time
    assert more_size / more_told < 1.1 * few_size / few_told
